import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5';
import { until } from '../../support/until.ts';

export type Client = Redis5 | Redis6 | Cluster5 | Cluster6;

export type Major = 5 | 6;

/** The options that the tests use and both majors share. */
interface SharedOptions {
  readonly port?: number;
  readonly sentinels?: { readonly host: string; readonly port: number }[];
  readonly name?: string;
  readonly keyPrefix?: string;
  readonly lazyConnect?: boolean;
  readonly socketTimeout?: number;
  readonly enableAutoPipelining?: boolean;
}

/** Soon again: what a test has broken is mended within the test. */
const retryStrategy = (): number => 50;

/** What docs/redis.md recommends: a failover leaves connections to what has become a replica. */
const reconnectOnError = (error: Error): boolean => error.message.includes('READONLY');

/** A client of a single Redis or of Sentinels. */
export function createClient(major: Major, shared: SharedOptions): Redis5 | Redis6 {
  const options = {
    host: '127.0.0.1',
    retryStrategy,
    reconnectOnError,
    sentinelRetryStrategy: retryStrategy,
    ...shared,
  };
  return major === 5 ? new Redis5(options).on('error', ignore) : new Redis6(options).on('error', ignore);
}

/** A client with the defaults of ioredis. */
export function createDefaultClient(
  major: Major,
  port: number,
  further: { readonly enableOfflineQueue?: boolean; readonly maxRetriesPerRequest?: null } = {},
): Redis5 | Redis6 {
  const options = { host: '127.0.0.1', port, ...further };
  return major === 5 ? new Redis5(options).on('error', ignore) : new Redis6(options).on('error', ignore);
}

/** A client of the Cluster that the node belongs to. */
export function createClusterClient(
  major: Major,
  port: number,
  options: Pick<SharedOptions, 'enableAutoPipelining'> = {},
): Cluster5 | Cluster6 {
  const nodes = [{ host: '127.0.0.1', port }];
  return major === 5
    ? new Cluster5(nodes, options).on('error', ignore)
    : new Cluster6(nodes, options).on('error', ignore);
}

/** Resolves when the client has lost its connection; `once` of Node.js would reject with the reason. */
export function closed(client: { once(event: 'close', listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => client.once('close', resolve));
}

/** Connections break here on purpose. */
function ignore(): void {}

/** Resolves once commands can be sent. */
export async function ready<C extends Client>(client: C): Promise<C> {
  await until('the client is ready', () => client.status === 'ready');
  return client;
}
