import {
  type ClaimResult,
  type CompleteResult,
  type PeekResult,
  type ReleaseResult,
  type RenewResult,
  type Store,
  toKey,
} from '../../receiver/dedupe/store.ts';
import { storeError } from '../../receiver/dedupe/time-limited.ts';

/** The parts of every operation on an id. */
interface OperationOnId {
  /** The id, or its digest. */
  readonly key: string;
  readonly token: string;
  /** The server keeps the id for this time from now. */
  readonly keepMs: number;
  /** The longest wait before the operation is sent, if the caller limits it. */
  readonly waitMs: number | undefined;
}

/**
 * One operation on one id, which a server runs by a script, a function or statements of ours. Claims closer
 * together than `spacingMs` count once in `spacedAttempts`. `handled` has the names of the finished handlers
 * as JSON, or is empty. A release refuses claims of its token for `refuseMs`.
 */
export type ServerOperation = OperationOnId &
  (
    | { readonly name: 'claim'; readonly leaseMs: number; readonly spacingMs: number }
    | { readonly name: 'renew'; readonly leaseMs: number }
    | { readonly name: 'complete' }
    | { readonly name: 'release'; readonly handled: string; readonly refuseMs: number }
    | { readonly name: 'peek' }
  );

/** The answer of a server to an operation on an id. */
export interface ServerAnswer {
  /** One word, or a line: see {@link createServerStore}. */
  readonly text: string;
  /** The time that the operation had waited before it was sent; left out if it was sent at once. */
  readonly waitedMs?: number;
}

/** The server of a store, and the members of the store that createServerStore takes over as they are. */
export interface StoreServer
  extends Readonly<Pick<Store, 'mustWait' | 'queuesClaims' | 'isAtWork'>>,
    Required<Pick<Store, 'commandTimeoutMs'>> {
  /** The name of the server, for messages. */
  readonly name: string;
  /** Resolves with the server's answer; rejects with the reason why there is none. */
  readonly run: (operation: ServerOperation) => Promise<ServerAnswer>;
}

/** A shorter wait of a claim is not reported, because it shortens the lease by very little. */
const NOTICEABLE_MS = 100;

/**
 * A store whose server answers each operation in a word, or in a line: `busy <msLeft>`, or
 * `claimed <attempt> <abandoned> <firstClaimedMsAgo> <spacedAttempts> <handled as JSON, or nothing>`.
 * Operations reject with UnavailableError.
 */
export function createServerStore({ name, run, ...members }: StoreServer): Store {
  const ask = async <Result>(
    operation: ServerOperation,
    read: (answer: ServerAnswer) => Result | undefined,
  ): Promise<Result> => {
    try {
      const answer = await run(operation);
      const result = read(answer);
      if (result !== undefined) return result;
      throw new Error(`${name} gave an unknown result: ${JSON.stringify(answer.text)}`);
    } catch (cause) {
      throw storeError(operation.name, cause);
    }
  };
  return {
    ...members,
    claim: ({ id, token, leaseMs, retentionMs, attemptSpacingMs: spacingMs = 0, waitMs }) => {
      const keepMs = Math.max(leaseMs, retentionMs);
      return ask({ name: 'claim', key: toKey(id), token, leaseMs, keepMs, spacingMs, waitMs }, readClaim);
    },
    renew: ({ id, token, leaseMs, retentionMs, waitMs }) => {
      const keepMs = Math.max(leaseMs, retentionMs);
      return ask({ name: 'renew', key: toKey(id), token, leaseMs, keepMs, waitMs }, readRenewal);
    },
    complete: ({ id, token, retentionMs: keepMs, waitMs }) =>
      ask({ name: 'complete', key: toKey(id), token, keepMs, waitMs }, readCompletion),
    release: ({ id, token, retentionMs: keepMs, handled: names, refuseClaimsMs: refuseMs = 0, waitMs }) => {
      const handled = names.length === 0 ? '' : JSON.stringify(names);
      return ask({ name: 'release', key: toKey(id), token, keepMs, handled, refuseMs, waitMs }, readRelease);
    },
    peek: ({ id, waitMs }) => ask({ name: 'peek', key: toKey(id), token: '', keepMs: 0, waitMs }, readPeek),
    refusesLateClaims: true,
  };
}

const readRenewal = readState<RenewResult['state']>('held', 'lost', 'completed');
const readCompletion = readState<CompleteResult['state']>('completed');
const readPeek = readState<PeekResult['state']>('unknown', 'running', 'completed');
const readRelease = readState<ReleaseResult['state']>('released', 'lost', 'completed');

function readState<State extends string>(...states: State[]) {
  return ({ text }: ServerAnswer): { readonly state: State } | undefined => {
    const state = states.find((candidate) => candidate === text);
    return state === undefined ? undefined : { state };
  };
}

/** The counts of a claim, and the names of the handlers that have finished. */
const CLAIMED = /^claimed (\S+) (\S+) (\S+) (\S+) (.*)$/s;

function readClaim({ text, waitedMs = 0 }: ServerAnswer): ClaimResult | undefined {
  if (text === 'completed') return { state: 'completed' };
  if (text.startsWith('busy ')) return { state: 'busy', msLeft: Number(text.slice('busy '.length)) };
  const parts = CLAIMED.exec(text);
  if (parts === null) return undefined;
  const [, attempt, abandoned, age, spaced, names] = parts;
  const result: ClaimResult = {
    state: 'claimed',
    attempt: Number(attempt),
    abandoned: Number(abandoned),
    firstClaimedMsAgo: Number(age),
    spacedAttempts: Number(spaced),
    handled: names ? JSON.parse(names) : [],
  };
  return waitedMs > NOTICEABLE_MS ? { ...result, waitedMs } : result;
}

/**
 * Returns the arguments that only some operations have, for a server whose operations all take the same ones.
 * `ms` is the lease, or the time for which a release refuses claims; `detail` is a text.
 */
export function termsOf(operation: ServerOperation): { readonly ms: number; readonly detail: string } {
  switch (operation.name) {
    case 'claim':
      return { ms: operation.leaseMs, detail: String(operation.spacingMs) };
    case 'renew':
      return { ms: operation.leaseMs, detail: '' };
    case 'release':
      return { ms: operation.refuseMs, detail: operation.handled };
    default:
      return { ms: 0, detail: '' };
  }
}
