import { ConfigurationError } from '../../receiver/errors.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { fromIoredis, type IoredisClient } from './clients/ioredis.ts';
import { fromNodeRedis, type NodeRedisClient } from './clients/node-redis.ts';
import type { ScriptClient } from './clients/script-client.ts';
import { fromUpstash, type UpstashClient } from './clients/upstash.ts';

/** A client of ioredis 5 or 6, of node-redis 5 or 6, or of `@upstash/redis`. */
export type RedisClient = IoredisClient | NodeRedisClient | UpstashClient;

/** The `ScriptClient` of each client. Stores and dead letters on one client share it, with its listeners. */
const known = new WeakMap<RedisClient, ScriptClient>();

/** Tells by its members which package a client is of. Throws {@link ConfigurationError} for other values. */
export function toScriptClient(functionName: string, client: RedisClient): ScriptClient {
  const scriptClient = known.get(client) ?? wrap(functionName, client);
  known.set(client, scriptClient);
  return scriptClient;
}

function wrap(functionName: string, client: RedisClient): ScriptClient {
  if (isIoredis(client)) return fromIoredis(client);
  if (isNodeRedis(client)) return fromNodeRedis(client);
  if (isUpstash(client)) return fromUpstash(client);
  throw new ConfigurationError(`${functionName} ${adviceFor(client)}`);
}

function isIoredis(client: RedisClient): client is IoredisClient {
  return has(client, { status: 'string', eval: 'function', evalsha: 'function', disconnect: 'function' });
}

function isNodeRedis(client: RedisClient): client is NodeRedisClient {
  const methods = { evalSha: 'function', destroy: 'function', connect: 'function', on: 'function' };
  return has(client, { isReady: 'boolean', isOpen: 'boolean', eval: 'function', ...methods });
}

function isUpstash(client: RedisClient): client is UpstashClient {
  return has(client, { eval: 'function', evalsha: 'function', createScript: 'function' });
}

/** Returns true for a value that has members of these types. */
function has(value: unknown, types: Readonly<Record<string, string>>): boolean {
  return Object.entries(types).every(([name, type]) => typeof propertyOf(value, name) === type);
}

/** The advice for a value that is not a client. */
function adviceFor(value: unknown): string {
  if (!has(value, { evalSha: 'function', isOpen: 'boolean' })) {
    return (
      'takes a client of ioredis 5 or 6 (new Redis(…) or new Cluster(…)), of node-redis 5 or 6 ' +
      '(createClient(…)), or of @upstash/redis (new Redis({ url, token }))'
    );
  }
  if (has(value, { isReady: 'boolean' })) return 'takes a client of node-redis 5 or 6, and this one is older';
  return (
    'cannot use createClientPool of node-redis, nor createCluster before 6.2, because they do not say whether ' +
    'they are connected: take createClient, createSentinel, or createCluster of node-redis 6.2 or later'
  );
}
