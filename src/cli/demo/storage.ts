import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import type { Store } from '../../receiver/dedupe/store.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { createFileDeadLetters } from '../../stores/file/dead-letters.ts';
import { createMemoryStore } from '../../stores/memory/memory.ts';
import type { RedisClient } from '../../stores/redis/client.ts';
import { createRedisDeadLetters } from '../../stores/redis/dead-letters/dead-letters.ts';
import { createRedisStore } from '../../stores/redis/store/store.ts';
import { CommandError } from '../failure.ts';
import { quote } from '../quote.ts';

/** The places in which the receiver of the demo keeps ids and dead letters. */
export interface DemoStorage {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
  readonly description: string;
  /** The options by which `posthorn dead-letters` finds the dead letters. */
  readonly letterOptions: string;
}

/**
 * Memory, and a new folder for the dead letters: those of an earlier demo are not in the way. The folder
 * stays, so that the dead letters can be looked at after the demo has ended.
 */
export function createLocalStorage(now: () => number): DemoStorage {
  const folder = createFolder();
  return {
    store: createMemoryStore({ now }),
    deadLetters: createFileDeadLetters(folder),
    description: `memory, dead letters in ${folder}`,
    letterOptions: `--dir ${quote(folder)}`,
  };
}

/** `url` is the address that `redis` is connected to. */
export function createRedisStorage(redis: RedisClient, url: string): DemoStorage {
  const scope = 'posthorn-demo';
  return {
    store: createRedisStore(redis, { scope }),
    deadLetters: createRedisDeadLetters(redis, { scope }),
    description: `Redis, scope ${scope}`,
    letterOptions: `--redis ${pasteable(url)} --scope ${scope}`,
  };
}

/** An address with a password is not printed: the shell knows it, if it was exported. */
function pasteable(url: string): string {
  return url.includes('@') ? '"$REDIS_URL"' : quote(url);
}

function createFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'posthorn-demo-'));
  } catch (cause) {
    const message = `the dead letters need a folder: ${messageOf(cause)}; set TMPDIR to a directory that exists`;
    throw new CommandError('failed', message, { cause });
  }
}
