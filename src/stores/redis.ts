import { messageOf, UnavailableError } from '../errors.ts';
import { checkArguments, type RedisClient, readTimeout } from '../redis/client.ts';
import { RedisCommands, type Script } from '../redis/commands.ts';
import { CLAIM, COMPLETE, RELEASE, RENEW } from './redis-scripts.ts';
import type {
  ClaimRequest,
  ClaimResult,
  CompleteResult,
  LeaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from './store.ts';
import { toKey } from './store.ts';

/** What `createRedisStore` takes besides the client. */
export interface RedisStoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits, `.`, `_` or `-`.
   * It begins every key; receivers share their ids only under the same one.
   */
  readonly scope: string;
  /** How long one command may take before it counts as failed, in milliseconds; 2,000 by default. */
  readonly commandTimeoutMs?: number;
}

/**
 * Remembers ids in Redis, so that several processes share them. The client is a connected one of ioredis, 5 or 6: a single
 * Redis, Sentinel or Cluster; it stays yours to close. Each operation is one command on one key; without a connection it
 * fails at once. Where Redis refuses, fails or is late, an operation rejects with UnavailableError (`store_unavailable`).
 *
 * @throws ConfigurationError for a client that is none, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
 * const receiver = createReceiver({ signingKey, store: createRedisStore(redis, { scope: 'billing-production' }) });
 * ```
 */
export function createRedisStore(redis: RedisClient, options: RedisStoreOptions): Store {
  checkArguments('createRedisStore', redis, options, ['scope', 'commandTimeoutMs']);
  const commandTimeoutMs = readTimeout('commandTimeoutMs', options.commandTimeoutMs ?? 2_000);
  const commands = new RedisCommands(redis, commandTimeoutMs);
  const keyOf = (id: string): string => `${options.scope}:${toKey(id)}`;
  const run = (script: Script, id: string, values: readonly unknown[]): Promise<readonly string[]> =>
    commands.run(script, [keyOf(id)], values.map(String)).catch(fail);

  return {
    commandTimeoutMs,
    claim: async (request) => readClaim(await run(CLAIM, request.id, claimValues(request))),
    renew: async (request) => readState(await run(RENEW, request.id, leaseValues(request)), renewals),
    async complete({ id, retentionMs }) {
      return readState(await run(COMPLETE, id, [wholeMs(retentionMs)]), completions);
    },
    async release({ id, token, retentionMs, handled }) {
      const list = handled.length === 0 ? '' : JSON.stringify(handled);
      return readState(await run(RELEASE, id, [token, wholeMs(retentionMs), list]), releases);
    },
  };
}

function leaseValues({ token, leaseMs, retentionMs }: LeaseRequest): readonly unknown[] {
  return [token, wholeMs(leaseMs), wholeMs(Math.max(leaseMs, retentionMs))];
}

function claimValues(request: ClaimRequest): readonly unknown[] {
  return [...leaseValues(request), request.attemptSpacingMs ?? 0];
}

/** Redis takes whole milliseconds only, and 0 for an error. */
function wholeMs(ms: number): number {
  return Math.max(1, Math.ceil(ms));
}

function readClaim(reply: readonly string[]): ClaimResult {
  const [state, ...details] = reply;
  if (state === 'completed') return { state };
  if (state === 'busy') return { state, msLeft: Number(details[0]) };
  if (state !== 'claimed') return fail(unknownReply(state));
  const [attempt, abandoned, firstClaimedMsAgo, spacedAttempts] = details.map(Number);
  return {
    state,
    attempt: attempt ?? 1,
    abandoned: abandoned ?? 0,
    firstClaimedMsAgo: firstClaimedMsAgo ?? 0,
    spacedAttempts: spacedAttempts ?? 1,
    handled: readNames(details[4]),
  };
}

/** The list that a release has stored. */
function readNames(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : JSON.parse(text);
}

const renewals: readonly RenewResult['state'][] = ['held', 'lost', 'completed'];
const completions: readonly CompleteResult['state'][] = ['completed'];
const releases: readonly ReleaseResult['state'][] = ['released', 'lost', 'completed'];

function readState<State extends string>(
  [told]: readonly string[],
  states: readonly State[],
): { readonly state: State } {
  const state = states.find((candidate) => candidate === told);
  return state === undefined ? fail(unknownReply(told)) : { state };
}

function unknownReply(state: string | undefined): Error {
  return new Error(`Redis gave an unknown reply: ${JSON.stringify(state)}`);
}

function fail(cause: unknown): never {
  throw new UnavailableError('store_unavailable', messageOf(cause), { cause });
}
