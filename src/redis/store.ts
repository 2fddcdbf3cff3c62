import { readDuration } from '../check-options.ts';
import type { ClaimResult, CompleteResult, ReleaseResult, RenewResult, Store } from '../dedupe/store.ts';
import { toKey } from '../dedupe/store.ts';
import { checkArguments, type RedisClient } from './client.ts';
import { RedisCommands } from './commands.ts';
import { RedisOperations } from './store-operations.ts';
import { FIRST_CLAIM } from './store-scripts.ts';

/** Options of {@link createRedisStore}. */
export interface RedisStoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. Every key begins with it; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /** How long one command may take before it counts as failed, in milliseconds; 2,000 by default. */
  readonly commandTimeoutMs?: number;
}

/**
 * Keeps event ids in Redis, so that several processes share them. The client is one of ioredis 5 or
 * 6: a single Redis, Sentinel or Cluster; closing it is up to you. Each operation is one call of a
 * script on one key, and operations that begin in one turn of the event loop share a command. An
 * operation rejects with UnavailableError (`store_unavailable`) if Redis refuses, fails or is late,
 * and at once if the client is not connected.
 *
 * @throws ConfigurationError if the client is not one of ioredis, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
 * const store = createRedisStore(redis, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, store });
 * ```
 */
export function createRedisStore(redis: RedisClient, options: RedisStoreOptions): Store {
  checkArguments('createRedisStore', redis, options, ['scope', 'commandTimeoutMs']);
  const commandTimeoutMs = readDuration('commandTimeoutMs', options.commandTimeoutMs, 2_000);
  const operations = new RedisOperations(new RedisCommands(redis, commandTimeoutMs));
  const keyOf = (id: string): string => `${options.scope}:${toKey(id)}`;
  return {
    commandTimeoutMs,
    claim: ({ id, token, leaseMs, retentionMs, attemptSpacingMs = 0 }) =>
      operations.run(
        {
          name: 'claim',
          key: keyOf(id),
          token,
          leaseMs: wholeMs(leaseMs),
          expiryMs: wholeMs(Math.max(leaseMs, retentionMs)),
          detail: String(attemptSpacingMs),
        },
        readClaim,
      ),
    renew: ({ id, token, leaseMs, retentionMs }) =>
      operations.run(
        {
          name: 'renew',
          key: keyOf(id),
          token,
          leaseMs: wholeMs(leaseMs),
          expiryMs: wholeMs(Math.max(leaseMs, retentionMs)),
          detail: '',
        },
        (reply) => ({ state: readState(reply, renewals) }),
      ),
    complete: ({ id, token, retentionMs }) =>
      operations.run(
        { name: 'complete', key: keyOf(id), token, leaseMs: 0, expiryMs: wholeMs(retentionMs), detail: '' },
        (reply) => ({ state: readState(reply, completions) }),
      ),
    release: ({ id, token, retentionMs, handled }) =>
      operations.run(
        {
          name: 'release',
          key: keyOf(id),
          token,
          leaseMs: 0,
          expiryMs: wholeMs(retentionMs),
          detail: handled.length === 0 ? '' : JSON.stringify(handled),
        },
        (reply) => ({ state: readState(reply, releases) }),
      ),
  };
}

/** Redis accepts only whole milliseconds above 0. */
function wholeMs(ms: number): number {
  return Math.max(1, Math.ceil(ms));
}

function readClaim(result: string): ClaimResult {
  if (result === FIRST_CLAIM) {
    return {
      state: 'claimed',
      attempt: 1,
      abandoned: 0,
      firstClaimedMsAgo: 0,
      spacedAttempts: 1,
      handled: [],
    };
  }
  if (result === 'completed') return { state: 'completed' };
  const [state, ...details] = result.split(' ', 5);
  const [first, abandoned, firstClaimedMsAgo, spacedAttempts] = details.map(Number);
  if (state === 'busy' && first !== undefined) return { state, msLeft: first };
  if (state !== 'claimed' || spacedAttempts === undefined) throw unknownResult(result);
  return {
    state,
    attempt: first ?? 1,
    abandoned: abandoned ?? 0,
    firstClaimedMsAgo: firstClaimedMsAgo ?? 0,
    spacedAttempts,
    handled: readNames(result.slice([state, ...details, ''].join(' ').length)),
  };
}

/** Reads the list of handlers that a release has stored. */
function readNames(text: string): string[] {
  return text === '' ? [] : JSON.parse(text);
}

const renewals: readonly RenewResult['state'][] = ['held', 'lost', 'completed'];
const completions: readonly CompleteResult['state'][] = ['completed'];
const releases: readonly ReleaseResult['state'][] = ['released', 'lost', 'completed'];

function readState<State extends string>(result: string, states: readonly State[]): State {
  const state = states.find((candidate) => candidate === result);
  if (state === undefined) throw unknownResult(result);
  return state;
}

function unknownResult(result: string): Error {
  return new Error(`Redis gave an unknown result: ${JSON.stringify(result)}`);
}
