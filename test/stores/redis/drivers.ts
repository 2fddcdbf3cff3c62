import type { RedisClient } from 'posthorn/redis';
import {
  createClient as create6,
  createCluster as createCluster6,
  createSentinel as createSentinel6,
} from 'redis';
import { createClient as create5, createSentinel as createSentinel5 } from 'redis-5';
import { createClusterClient, createClient as createIoredis, ready } from './clients.ts';

/** A client that is connected, of whichever package. */
export interface OpenClient {
  readonly client: RedisClient;
  /** Runs one command of one key, past the store. */
  readonly get: (key: string) => Promise<unknown>;
  readonly close: () => void;
}

/** A package of clients, as posthorn accepts it. */
export interface Driver {
  readonly name: string;
  /** With what docs/redis.md recommends for a connection whose peer has gone. */
  readonly single: (port: number, options?: { readonly socketTimeout?: number }) => Promise<OpenClient>;
  readonly sentinel: (sentinelPorts: readonly number[]) => Promise<OpenClient>;
  /** Left out if posthorn refuses the client. */
  readonly cluster?: (port: number) => Promise<OpenClient>;
}

const host = '127.0.0.1';

/** Soon again: what a test has broken is mended within the test. */
const reconnectStrategy = (): number => 50;

/** Connections break here on purpose. */
function ignore(): void {}

const toSentinels = (ports: readonly number[]) => ports.map((port) => ({ host, port }));

function ofIoredis(major: 5 | 6): Driver {
  const open = async (client: ReturnType<typeof createIoredis> | ReturnType<typeof createClusterClient>) => {
    await ready(client);
    return { client, get: (key: string) => client.get(key), close: () => client.disconnect() };
  };
  return {
    name: `ioredis ${major}`,
    single: (port, options = {}) => open(createIoredis(major, { port, ...options })),
    sentinel: (ports) => open(createIoredis(major, { sentinels: toSentinels(ports), name: 'primary' })),
    cluster: (port) => open(createClusterClient(major, port)),
  };
}

/** The parts that the clients of both majors share, whose types differ. */
interface NodeRedis {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  get(key: string): Promise<unknown>;
  destroy(): unknown;
}

async function openNodeRedis<C extends NodeRedis>(client: C) {
  client.on('error', ignore);
  await client.connect();
  return { client, get: (key: string) => client.get(key), close: () => void client.destroy() };
}

const sentinelOptions = (ports: readonly number[]) => ({
  name: 'primary',
  sentinelRootNodes: toSentinels(ports),
  nodeClientOptions: { socket: { reconnectStrategy } },
  sentinelClientOptions: { socket: { reconnectStrategy } },
});

export const nodeRedis5: Driver = {
  name: 'node-redis 5',
  single: (port, options = {}) =>
    openNodeRedis(create5({ socket: { host, port, reconnectStrategy, ...options } })),
  sentinel: (ports) => openNodeRedis(createSentinel5(sentinelOptions(ports))),
};

export const nodeRedis6: Driver = {
  name: 'node-redis 6',
  single: (port, options = {}) =>
    openNodeRedis(create6({ socket: { host, port, reconnectStrategy, ...options } })),
  sentinel: (ports) => openNodeRedis(createSentinel6(sentinelOptions(ports))),
  cluster: (port) => openNodeRedis(createCluster6({ rootNodes: [{ socket: { host, port } }] })),
};

export const ioredis5: Driver = ofIoredis(5);
export const ioredis6: Driver = ofIoredis(6);

export const drivers: readonly Driver[] = [ioredis5, ioredis6, nodeRedis5, nodeRedis6];
