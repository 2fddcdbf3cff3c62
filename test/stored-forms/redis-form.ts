import type { Redis } from 'ioredis';

/** A key of Redis in a form that people can read. */
export interface RedisKey {
  readonly key: string;
  readonly type: string;
  /** What remained of its life; absent if it does not expire. */
  readonly ttlMs?: number;
  readonly value: unknown;
}

/** The value of a claim: a list that Lua has packed in a string. */
interface Packed {
  readonly packed: readonly unknown[];
}

/** Gives the list of a packed string as JSON, or nothing; fails if it could not be packed again. */
const UNPACK = `
local value = redis.call('GET', KEYS[1])
local isPacked, list = pcall(cmsgpack.unpack, value)
if not isPacked or type(list) ~= 'table' then return false end
local json = cjson.encode(list)
if cmsgpack.pack(cjson.decode(json)) ~= value then return redis.error_reply('cannot be packed again') end
return json`;

const PACK = `redis.call('SET', KEYS[1], cmsgpack.pack(cjson.decode(ARGV[1])))`;

/**
 * Reads all keys of a Redis, in order. The stream of a queue is left out: it is a log, of which nothing is
 * read again.
 */
export async function readRedis(redis: Redis): Promise<RedisKey[]> {
  const keys = (await redis.keys('*')).sort();
  const found: RedisKey[] = [];
  for (const key of keys) {
    const [type, ttlMs] = [await redis.type(key), await redis.pttl(key)];
    if (type === 'stream') continue;
    found.push({ key, type, ...(ttlMs >= 0 && { ttlMs }), value: await readValue(redis, key, type) });
  }
  return found;
}

async function readValue(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'string': {
      const list = await redis.eval(UNPACK, 1, key);
      return typeof list === 'string' ? { packed: JSON.parse(list) } : redis.get(key);
    }
    case 'hash': {
      const fields = Object.entries(await redis.hgetall(key));
      return Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1)));
    }
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    default:
      throw new Error(`the key ${key} has the type ${type}, which cannot be read yet`);
  }
}

/** Writes the keys as they were `elapsedMs` after they were read; a key whose life had ended is left out. */
export async function restoreRedis(
  redis: Redis,
  keys: readonly RedisKey[],
  elapsedMs: number,
): Promise<void> {
  for (const { key, type, ttlMs = Number.POSITIVE_INFINITY, value } of keys) {
    const leftMs = ttlMs - elapsedMs;
    if (leftMs <= 0) continue;
    await writeValue(redis, key, type, value);
    if (Number.isFinite(leftMs)) await redis.pexpire(key, leftMs);
  }
}

async function writeValue(redis: Redis, key: string, type: string, value: unknown): Promise<void> {
  switch (type) {
    case 'string':
      if (isPacked(value)) await redis.eval(PACK, 1, key, JSON.stringify(value.packed));
      else await redis.set(key, String(value));
      return;
    case 'hash':
      await redis.hset(key, ...textsOf(value));
      return;
    case 'list':
      await redis.rpush(key, ...textsOf(value));
      return;
    case 'zset':
      await redis.zadd(key, ...scoresFirst(textsOf(value)));
      return;
    default:
      throw new Error(`the key ${key} has the type ${type}, which cannot be written yet`);
  }
}

function isPacked(value: unknown): value is Packed {
  return typeof value === 'object' && value !== null && 'packed' in value;
}

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'object' && value !== null ? Object.entries(value).flat() : [];
}

function scoresFirst(texts: readonly string[]): string[] {
  return texts.flatMap((text, index) => (index % 2 === 0 ? [texts[index + 1] ?? '', text] : []));
}
