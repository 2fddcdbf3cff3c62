import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ClaimedResult, ClaimRequest, ClaimResult, Store } from '../../receiver/dedupe/store.ts';
import { pause, performance } from '../../receiver/timing/process-clock.ts';

/** The requirements of stores, by their names. */
export type Requirements = Readonly<Record<string, (subject: Subject) => Promise<void>>>;

/** No test lasts as long. */
export const LONG_MS = 30_000;
/** A time whose end a test waits for. */
export const SHORT_MS = 60;
/**
 * A store whose server has no clock goes by the clocks of its clients. It lets a lease or a retention end
 * only when it is over by all of them.
 */
export const MOST_CLOCK_ALLOWANCE_MS = 20_000;

const RETENTION_MS = 60_000;

/** Asks until something that lasts for a time is over by all clocks. */
export async function untilOver(ms: number, isOver: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + ms + MOST_CLOCK_ALLOWANCE_MS;
  while (!(await isOver())) {
    assert.ok(performance.now() < endsAt, `it takes longer than ${ms} ms`);
    await pause(10);
  }
}

/** A store, and one id in it. */
export class Subject {
  readonly store: Store;
  readonly id: string;

  constructor(store: Store, id: string = `evt_${randomUUID()}`) {
    this.store = store;
    this.id = id;
  }

  async claim(token: string, request: Partial<ClaimRequest> = {}): Promise<ClaimResult> {
    return await this.store.claim({ ...this.#lease(token), ...request });
  }

  async claimed(token: string, request: Partial<ClaimRequest> = {}): Promise<ClaimedResult> {
    const result = await this.claim(token, request);
    if (result.state === 'claimed') return result;
    throw new assert.AssertionError({ actual: result.state, expected: 'claimed', operator: 'strictEqual' });
  }

  async renew(token: string, leaseMs: number = LONG_MS): Promise<string> {
    return (await this.store.renew({ ...this.#lease(token), leaseMs })).state;
  }

  async complete(token: string, retentionMs: number = RETENTION_MS): Promise<string> {
    return (await this.store.complete({ id: this.id, token, retentionMs })).state;
  }

  /** With `refuseClaimsMs` later claims of the token are refused. */
  async release(token: string, handled: readonly string[] = [], refuseClaimsMs?: number): Promise<string> {
    const request = { id: this.id, token, retentionMs: RETENTION_MS, handled };
    return (await this.store.release({ ...request, ...(refuseClaimsMs !== undefined && { refuseClaimsMs }) }))
      .state;
  }

  /** The answer of `peek`, which the store has. */
  async peek(): Promise<string | undefined> {
    return (await this.store.peek?.({ id: this.id }))?.state;
  }

  /** Claims with the token as soon as the lease of another token has run out. */
  async takeOver(token: string, request: Partial<ClaimRequest> = {}): Promise<ClaimedResult> {
    for (;;) {
      const result = await this.claim(token, request);
      if (result.state !== 'busy') {
        assert.equal(result.state, 'claimed');
        return result;
      }
      await pause(result.msLeft);
    }
  }

  #lease(token: string): ClaimRequest {
    return { id: this.id, token, leaseMs: LONG_MS, retentionMs: RETENTION_MS };
  }
}
