import { enqueueingId, handlingId } from '../../receiver/dedupe/claim-id.ts';
import { retentionFor } from '../../receiver/dedupe/retention.ts';
import type { LeaseRequest } from '../../receiver/dedupe/store.ts';
import { TimeLimitedStore } from '../../receiver/dedupe/time-limited.ts';
import { looksLikeKey } from '../../receiver/provider/event-key.ts';
import type { Settings } from '../../receiver/settings.ts';
import type { Awaitable } from '../../receiver/timing/awaitable.ts';
import { shorten } from '../../receiver/values/foreign-values.ts';
import { checkAccountOption } from '../account-option.ts';
import { CommandError, usageError } from '../failure.ts';
import { CONNECTION_LIMIT_MS, repeat } from '../repeat.ts';
import type { RecordedId } from './id-list.ts';

/**
 * The end of one id: completed now, or left as it was, because it is too young, or known to the store or as a
 * dead letter.
 */
export type ImportResult = 'imported' | 'young' | 'known';

/** Added to the time of the last retry, because clocks differ and the service may be late. */
const MARGIN_MS = 10 * 60_000;

/**
 * All imports have one token, which is that of a hold. So an import that was interrupted between the claim
 * and the completion of an id is taken up by the next one, and its claim is not an attempt.
 */
const TOKEN = 'hold:imported';

/**
 * Completes ids that another program has recorded. That program may have recorded an id before its handler
 * ran, and may have died in between. Until the last retry is over, the event may still be handled here; so
 * only an id that is older than that is completed.
 */
export class IdImport {
  readonly #settings: Settings;
  readonly #account: string | undefined;
  readonly #store: TimeLimitedStore;
  readonly #answerLimitMs: number;
  /** The age from which an id is old enough. */
  readonly leastAgeMs: number;

  /** All ids are of `account`, if the receiver has several. */
  constructor(settings: Settings, account?: string, answerLimitMs: number = CONNECTION_LIMIT_MS) {
    checkAccountOption(settings, account);
    if (settings.account !== undefined && account === undefined)
      throw usageError('the receiver has several accounts: say with --account of which one the ids are');
    this.#settings = settings;
    this.#account = account;
    this.#answerLimitMs = answerLimitMs;
    this.#store = new TimeLimitedStore(settings.store);
    this.leastAgeMs = MARGIN_MS + settings.retries.spanMs;
  }

  /**
   * Imports one id. Rejects if a server does not answer; then the id can be imported again, because a claim
   * that is held stays with the token.
   */
  async take({ id, recordedAt }: RecordedId): Promise<ImportResult> {
    if (looksLikeKey(id)) throw alreadyKey(id);
    if (recordedAt > this.#settings.now() - this.leastAgeMs) return 'young';
    const key = this.keyOf(id);
    if (await this.#isDeadLetter(key)) return 'known';
    const requests = this.#claimIds(key).map((claimId) => this.#request(claimId, recordedAt));
    for (const request of requests) {
      if (await this.#isNew(request)) continue;
      for (const claimed of requests) await this.#release(claimed);
      return 'known';
    }
    for (const request of requests) await this.#untilAnswered(() => this.#store.complete(request));
    return 'imported';
  }

  /** The key under which the event with this id is imported. */
  keyOf(id: string): string {
    return this.#settings.provider.keyOf({ id, account: this.#account });
  }

  /** A replay of a dead letter must find its id open, or it would remove the dead letter without a run. */
  async #isDeadLetter(key: string): Promise<boolean> {
    const { deadLetters } = this.#settings;
    return deadLetters !== undefined && (await this.#untilAnswered(() => deadLetters.get(key))) !== undefined;
  }

  /** With a queue, the run before the answer has an id of its own, which is completed first. */
  #claimIds(key: string): readonly string[] {
    return this.#settings.queue === undefined ? [handlingId(key)] : [enqueueingId(key), handlingId(key)];
  }

  /** The event was created before its id was recorded, so this retention is long enough. */
  #request(id: string, recordedAt: number): LeaseRequest {
    const { leaseMs } = this.#settings;
    return { id, token: TOKEN, leaseMs, retentionMs: retentionFor(recordedAt, this.#settings) };
  }

  /**
   * Claims an id. Returns false if the store knows it. It is looked up first, because a claim is a write. A
   * store that does not know holds must not count the claim either.
   */
  async #isNew(request: LeaseRequest): Promise<boolean> {
    const found = await this.#untilAnswered(() => this.#store.lookUp({ id: request.id }));
    if (found?.state === 'completed') return false;
    const uncounted = { ...request, attemptSpacingMs: request.retentionMs };
    const claim = await this.#untilAnswered(() => this.#store.claim(uncounted));
    return claim.state === 'claimed' && claim.attempt === 1;
  }

  async #release(request: LeaseRequest): Promise<void> {
    try {
      await this.#store.release({ ...request, handled: [] });
    } catch {
      // The lease ends by itself.
    }
  }

  /** Asks a server again until it answers, or rejects with its last error. */
  #untilAnswered<T>(ask: () => Awaitable<T>): Promise<T> {
    const endsAt = performance.now() + this.#answerLimitMs;
    return repeat(
      async () => ask(),
      (error) => error !== undefined && performance.now() < endsAt,
    );
  }
}

/** The list was made from a store of posthorn: another key made of it would belong to no event. */
function alreadyKey(id: string): CommandError {
  return new CommandError(
    'failed',
    `${JSON.stringify(shorten(id, 100))} is the key of an event, and not its id: list the ids that the sender gives`,
  );
}
