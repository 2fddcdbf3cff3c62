import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import {
  type AttributeValue,
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  paginateScan,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { findJava } from '../../../tools/programs.js';
import { onFreePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { emulatorFolder } from './install-emulator.ts';
import { HttpProxy } from './proxy.ts';
import { tableDefinition, timeToLive } from './table.ts';

/** The emulator of DynamoDB, with a table as long as a file of tests runs. */
export interface DynamoFixture {
  readonly table: string;
  /** A client without a proxy. */
  readonly client: DynamoDBClient;
  /** Stands between the emulator and the clients of `openClient`. */
  readonly proxy: HttpProxy;
  /** Opens a client by way of the proxy. */
  readonly openClient: (config?: DynamoDBClientConfig) => DynamoDBClient;
  /** Sends a signal to the emulator. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** All items whose `pk` begins so. */
  readonly items: (prefix: string) => Promise<readonly Record<string, AttributeValue>[]>;
}

/** Java takes longer to start than most files of tests to run, so the files of a worker share one. */
let emulator: ReturnType<typeof onFreePort> | undefined;

export function useDynamo(): DynamoFixture {
  const table = `posthorn-test-${randomUUID()}`;
  const clients: DynamoDBClient[] = [];
  let child: ChildProcess | undefined;
  let client: DynamoDBClient;
  let proxy: HttpProxy;

  const openClient = (endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient => {
    const opened = new DynamoDBClient({
      endpoint,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      ...config,
    });
    clients.push(opened);
    return opened;
  };

  beforeAll(async () => {
    emulator ??= onFreePort(startEmulator);
    const { port, child: started } = await emulator;
    child = started;
    proxy = await HttpProxy.start(port);
    client = openClient(`http://127.0.0.1:${port}`);
    await client.send(new CreateTableCommand(tableDefinition(table)));
    await client.send(new UpdateTimeToLiveCommand(timeToLive(table)));
  });
  afterAll(async () => {
    await client?.send(new DeleteTableCommand({ TableName: table }));
    for (const opened of clients) opened.destroy();
    await proxy?.close();
  });
  return {
    table,
    get client() {
      return client;
    },
    get proxy() {
      return proxy;
    },
    openClient: (config) => openClient(proxy.url, config),
    signal: (signal) => void child?.kill(signal),
    items: async (prefix) => {
      const pages = paginateScan(
        { client },
        {
          TableName: table,
          ConsistentRead: true,
          FilterExpression: 'begins_with(pk, :prefix)',
          ExpressionAttributeValues: { ':prefix': { S: prefix } },
        },
      );
      const found: Record<string, AttributeValue>[] = [];
      for await (const { Items = [] } of pages) found.push(...Items);
      return found;
    },
  };
}

async function startEmulator(port: number): Promise<ChildProcess> {
  const flags = ['-Xmx512m', '-XX:+UseSerialGC', '-Djava.library.path=./DynamoDBLocal_lib'];
  const options = ['-inMemory', '-sharedDb', '-port', String(port), '-disableTelemetry'];
  const child = spawn(findJava() ?? 'java', [...flags, '-jar', 'DynamoDBLocal.jar', ...options], {
    cwd: emulatorFolder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await until('DynamoDB Local listens', () => {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended: ${output.slice(-2_000)}`);
    return answersAt(port);
  });
  return child;
}

function answersAt(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).then((isOpen) => {
    socket.destroy();
    return isOpen === true;
  });
}
