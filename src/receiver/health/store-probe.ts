import { PROBE_ID } from '../dedupe/claim-id.ts';
import type { TimeLimitedStore } from '../dedupe/time-limited.ts';
import { UnavailableError } from '../errors.ts';
import { toReportedError } from '../outcomes/outcome.ts';
import { performance } from '../timing/process-clock.ts';
import { SharedCall } from '../timing/shared-call.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import { QUESTION_LIMIT_MS, type StoreHealth } from './health.ts';

/** This id is never claimed, so there is nothing to release: a store looks it up, and does not write. */
const QUESTION = { id: PROBE_ID, token: 'health', retentionMs: 1_000, handled: [] };

/** Asks a store whether it answers. Calls at the same time share one question. */
export class StoreProbe {
  readonly #store: Pick<TimeLimitedStore, 'release'>;
  readonly #now: () => number;
  #failingSince: number | undefined;
  readonly #asking: SharedCall<StoreHealth> = new SharedCall(() => this.#ask());

  constructor(store: Pick<TimeLimitedStore, 'release'>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Never rejects. */
  ask(): Promise<StoreHealth> {
    return this.#asking.ask();
  }

  async #ask(): Promise<StoreHealth> {
    const askedAt = performance.now();
    try {
      const answered = Promise.resolve(this.#store.release(QUESTION));
      await withTimeLimit(answered, QUESTION_LIMIT_MS, storeTimeout);
      this.#failingSince = undefined;
      return { ok: true, latencyMs: performance.now() - askedAt };
    } catch (error) {
      this.#failingSince ??= this.#now();
      const latencyMs = performance.now() - askedAt;
      return { ok: false, latencyMs, failingSince: this.#failingSince, error: toReportedError(error) };
    }
  }
}

function storeTimeout(): UnavailableError {
  return new UnavailableError(
    'store_unavailable',
    `the store did not answer within ${QUESTION_LIMIT_MS} ms when it was asked for its health`,
  );
}
