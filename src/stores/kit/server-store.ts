import {
  type ClaimResult,
  type CompleteResult,
  type ReleaseResult,
  type RenewResult,
  type Store,
  toKey,
} from '../../receiver/dedupe/store.ts';

/** One operation on one id, for a server that runs it by a script or function of ours. */
export interface ServerOperation {
  readonly name: 'claim' | 'renew' | 'complete' | 'release';
  /** The id, or its digest. */
  readonly key: string;
  readonly token: string;
  readonly leaseMs: number;
  /** How long the server keeps the id from now. */
  readonly keepMs: number;
  /** For a claim, its spacing. For a release, the names of the handlers that have finished, as JSON. */
  readonly detail: string;
  /** How long it may wait before it is sent, if the caller limits that. */
  readonly waitMs: number | undefined;
}

/** Reads the answer of a server to an operation, which had waited for `waitedMs` before it was sent. */
export type ReadAnswer<Result> = (answer: string, waitedMs?: number) => Result;

/** The server of a store. */
export interface StoreServer {
  /** For messages. */
  readonly name: string;
  readonly commandTimeoutMs: number;
  /** Resolves with the server's answer as `read` returns it; rejects with UnavailableError. */
  readonly run: <Result>(operation: ServerOperation, read: ReadAnswer<Result>) => Promise<Result>;
  /** Whether an operation would have to wait for a connection; left out if the server cannot tell. */
  readonly mustWait?: () => boolean;
  /** See {@link Store}. */
  readonly queuesClaims?: boolean;
  /** See {@link Store}. */
  readonly isAtWork?: () => boolean;
}

/**
 * A shorter wait of a claim is not reported: its lease counts from its start, and is only that much shorter.
 */
const NOTICEABLE_MS = 100;

/**
 * The answer to a first claim on an id. Nearly all claims get it, and comparing it saves half a microsecond
 * of parsing.
 */
export const FIRST_CLAIM = 'claimed 1 0 0 1 ';

/**
 * A store whose server answers each operation in a word, or in a line: `busy <msLeft>`, or
 * `claimed <attempt> <abandoned> <firstClaimedMsAgo> <spacedAttempts> <handled as JSON, or nothing>`.
 */
export function createServerStore({
  name,
  commandTimeoutMs,
  run,
  mustWait,
  queuesClaims,
  isAtWork,
}: StoreServer): Store {
  const unknown = (answer: string): Error =>
    new Error(`${name} gave an unknown result: ${JSON.stringify(answer)}`);
  const readState = <State extends string>(states: readonly State[]) => {
    return (answer: string): { readonly state: State } => {
      const state = states.find((candidate) => candidate === answer);
      if (state === undefined) throw unknown(answer);
      return { state };
    };
  };
  const readClaim = (answer: string, waitedMs = 0): ClaimResult => {
    const result = parseClaim(answer);
    if (result === undefined) throw unknown(answer);
    return waitedMs > NOTICEABLE_MS && result.state === 'claimed' ? { ...result, waitedMs } : result;
  };
  const readRenewal = readState<RenewResult['state']>(['held', 'lost', 'completed']);
  const readCompletion = readState<CompleteResult['state']>(['completed']);
  const readRelease = readState<ReleaseResult['state']>(['released', 'lost', 'completed']);
  return {
    commandTimeoutMs,
    ...(mustWait && { mustWait }),
    ...(queuesClaims && { queuesClaims }),
    ...(isAtWork && { isAtWork }),
    claim: ({ id, token, leaseMs, retentionMs, attemptSpacingMs = 0, waitMs }) => {
      const keepMs = Math.max(leaseMs, retentionMs);
      const detail = String(attemptSpacingMs);
      return run({ name: 'claim', key: toKey(id), token, leaseMs, keepMs, detail, waitMs }, readClaim);
    },
    renew: ({ id, token, leaseMs, retentionMs, waitMs }) => {
      const keepMs = Math.max(leaseMs, retentionMs);
      return run({ name: 'renew', key: toKey(id), token, leaseMs, keepMs, detail: '', waitMs }, readRenewal);
    },
    complete: ({ id, token, retentionMs: keepMs, waitMs }) =>
      run(
        { name: 'complete', key: toKey(id), token, leaseMs: 0, keepMs, detail: '', waitMs },
        readCompletion,
      ),
    release: ({ id, token, retentionMs: keepMs, handled, waitMs }) => {
      const detail = handled.length === 0 ? '' : JSON.stringify(handled);
      return run({ name: 'release', key: toKey(id), token, leaseMs: 0, keepMs, detail, waitMs }, readRelease);
    },
  };
}

function parseClaim(answer: string): ClaimResult | undefined {
  if (answer === FIRST_CLAIM) {
    return {
      state: 'claimed',
      attempt: 1,
      abandoned: 0,
      firstClaimedMsAgo: 0,
      spacedAttempts: 1,
      handled: [],
    };
  }
  if (answer === 'completed') return { state: 'completed' };
  const [state, ...details] = answer.split(' ', 5);
  const [first, abandoned = 0, firstClaimedMsAgo = 0, spacedAttempts] = details.map(Number);
  if (state === 'busy' && first !== undefined) return { state, msLeft: first };
  if (state !== 'claimed' || first === undefined || spacedAttempts === undefined) return undefined;
  const names = answer.slice([state, ...details, ''].join(' ').length);
  const handled = names === '' ? [] : JSON.parse(names);
  return { state, attempt: first, abandoned, firstClaimedMsAgo, spacedAttempts, handled };
}
