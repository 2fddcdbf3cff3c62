import { createMemoryStore, createReceiver, type ReceiverOptions, type Store } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ListQueue } from '../../receiver/queue/list-queue.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY, serve } from '../../support/served.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

type Environment = Readonly<Record<string, string>>;

/** The warnings of two deliveries to a receiver that runs in this environment. */
async function warningsIn(
  environment: Environment,
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
): Promise<(readonly string[])[]> {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const warnings: (readonly string[])[] = [];
  const receiver = createReceiver({ signingKey: KEY, deadLetters: createMapDeadLetters(), ...options })
    .on('*', () => {})
    .observe((report) => warnings.push(report.warnings));
  const url = await serve(receiver);
  for (const _delivery of [1, 2]) await deliver(url, createEvent('transfer.created'), { key: KEY });
  return warnings;
}

const warned = [[expect.stringMatching(/^memory_store_shared: .*createRedisStore of posthorn\/redis/)], []];
const quiet = [[], []];

/** What PM2 6 and 7 put into the environment of an application. */
function pm2(mode: 'cluster_mode' | 'fork_mode', instances: number, instance: number): Environment {
  return {
    pm_id: String(instance + 4),
    exec_mode: mode,
    instances: String(instances),
    NODE_APP_INSTANCE: String(instance),
  };
}

describe('a memory store in one of several processes makes the first report warn:', () => {
  const several: readonly [string, Environment][] = [
    ['several instances of PM2, in fork mode', pm2('fork_mode', 3, 0)],
    ['several instances of PM2, in cluster mode', pm2('cluster_mode', 2, 1)],
    ['an instance that `pm2 scale` has added', pm2('fork_mode', 1, 1)],
    ['PM2 with instance_var', { pm_id: '4', exec_mode: 'fork_mode', instances: '2', INSTANCE_ID: '0' }],
    ['a NODE_APP_INSTANCE of another program', { NODE_APP_INSTANCE: '2' }],
    ['a function of AWS Lambda', { AWS_LAMBDA_FUNCTION_NAME: 'webhooks' }],
  ];
  test.each(several)('%s', async (_name, environment) => {
    expect(await warningsIn(environment)).toEqual(warned);
    const passed = { store: createMemoryStore({ maxEntries: 5 }) };
    expect(await warningsIn(environment, passed)).toEqual(warned);
  });

  test('and names the stores of the place: a file for one machine, a table of DynamoDB for AWS Lambda', async () => {
    const [onMachine] = await warningsIn(pm2('fork_mode', 3, 0));
    expect(onMachine?.[0]).toMatch(
      /share a store: createSqliteStore of posthorn\/sqlite, or createRedisStore/,
    );
    const [onLambda] = await warningsIn({ AWS_LAMBDA_FUNCTION_NAME: 'webhooks' });
    expect(onLambda?.[0]).toMatch(
      /share a store: createDynamoStore of posthorn\/dynamodb, or createRedisStore/,
    );
  });
});

/** The warnings of two events each of a receiver and a worker that share the queue only. */
async function warningsWithQueue(createStore: () => Store | undefined): Promise<(readonly string[])[][]> {
  const queue = new ListQueue();
  const open = () => {
    const warnings: (readonly string[])[] = [];
    const store = createStore();
    const options = { signingKey: KEY, deadLetters: createMapDeadLetters(), queue, ...(store && { store }) };
    const receiver = createReceiver(options)
      .on('*', () => {}, { name: 'book', queue: true })
      .observe((report) => warnings.push(report.warnings));
    return { receiver, warnings };
  };
  const [receiving, working] = [open(), open()];
  for (const _event of [1, 2]) {
    await deliver(receiving.receiver, createEvent('transfer.created'), { key: KEY });
    const report = await working.receiver.dispatch(queue.take(), { attempt: 1, final: false });
    expect(report.outcome).toBe('processed');
  }
  return [receiving.warnings, working.warnings];
}

test('a memory store beside a queue makes the first report of the receiver and of the worker warn', async () => {
  const warnedOfJobs = [
    [
      expect.stringMatching(
        /^memory_store_shared: the jobs of a queue .*share a store .*createRedisStore of posthorn\/redis, or createPostgresStore of posthorn\/postgres$/,
      ),
    ],
    [],
  ];
  for (const createStore of [() => undefined, () => createMemoryStore()])
    expect(await warningsWithQueue(createStore)).toEqual([warnedOfJobs, warnedOfJobs]);
  const { claim, renew, complete, release } = createMemoryStore();
  expect(await warningsWithQueue(() => ({ claim, renew, complete, release }))).toEqual([quiet, quiet]);
});

describe('nobody is warned', () => {
  const single: readonly [string, Environment][] = [
    ['of one process', {}],
    ['of one instance of PM2, in fork mode', pm2('fork_mode', 1, 0)],
    ['of one instance of PM2, in cluster mode', pm2('cluster_mode', 1, 0)],
    ['by variables that only look like those of PM2', { instances: '3', exec_mode: 'cluster_mode' }],
  ];
  test.each(single)('%s', async (_name, environment) => {
    expect(await warningsIn(environment)).toEqual(quiet);
  });

  test('of a store of another kind, which several processes may share', async () => {
    const { claim, renew, complete, release } = createMemoryStore();
    const store = { claim, renew, complete, release };
    expect(await warningsIn(pm2('fork_mode', 3, 1), { store })).toEqual(quiet);
  });
});

test('without dead letters both warnings are in the first report', async () => {
  const [first] = await warningsIn(pm2('fork_mode', 3, 1), { deadLetters: undefined });
  expect(first?.map((warning) => warning.replace(/:.*/s, ''))).toEqual([
    'dead_letters_missing',
    'memory_store_shared',
  ]);
});
