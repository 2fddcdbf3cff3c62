import { type Busy, Claim, type ClaimAnswer, type ClaimServices } from '../../dedupe/claim.ts';
import { POLL_MS, pollPauseMs } from '../../dedupe/poll.ts';
import { UnavailableError } from '../../errors.ts';
import type { Warning } from '../../outcomes/report.ts';
import type { BodyMemory } from '../../request/body-memory.ts';
import type { Activity } from '../../timing/activity.ts';
import { pause, performance } from '../../timing/process-clock.ts';
import { HeldKey, type KeyClaim, type KeyRequest, mayWait, WaitingEvents } from './key-wait.ts';

/**
 * The time for which the events of one process hand a key on. Then it is released, and the processes whose
 * events wait for it have a chance to claim it. If none does, the next time is twice as long.
 */
const FIRST_TENURE_MS = 2_000;
const LONGEST_TENURE_MS = 8_000;

/** The services that all keys of a receiver share. */
export interface KeyServices extends ClaimServices {
  readonly bodyMemory: BodyMemory;
}

/**
 * The events of this process that need one key of a handler. They have it one at a time. The store is asked
 * once for all of them, and not at all while one has the key.
 */
export class KeyQueue {
  readonly #id: string;
  readonly #handler: string;
  readonly #services: KeyServices;
  readonly #calls: Activity;
  readonly #onIdle: () => void;
  readonly #waiting = new WaitingEvents();
  /** True while an event waits for the key or has it, and while the key is released. */
  #isServing = false;
  /** True once the store has answered a claim: until then, nothing is known of the key. */
  #hasAnswered = false;
  /** The end of the lease of another process that has the key, by the monotonic clock; otherwise 0. */
  #busyUntil = 0;
  /** When other processes must have a chance, by the monotonic clock; undefined before the first claim. */
  #tenureEndsAt: number | undefined;
  #tenureMs = FIRST_TENURE_MS;
  /** The number of the last claim of this process: the store counts those of all processes. */
  #lastClaim: number | undefined;

  /**
   * `id` is the key's id in the store. `calls` counts the queues that are claiming or releasing their keys.
   * `onIdle` is called once no event needs the key any more.
   */
  constructor(
    { id, handler }: { readonly id: string; readonly handler: string },
    services: KeyServices,
    calls: Activity,
    onIdle: () => void,
  ) {
    this.#id = id;
    this.#handler = handler;
    this.#services = services;
    this.#calls = calls;
    this.#onIdle = onIdle;
  }

  /**
   * Acquires the key. Rejects with `key_busy` if it is not free in time, with the error of a store that
   * fails, and as soon as the run is aborted.
   */
  async acquire(request: KeyRequest): Promise<HeldKey> {
    if (this.#isServing && !mayWait(request)) throw this.#busyError();
    const granted = this.#waiting.add(request, () => this.#lateError());
    if (!this.#isServing) void this.#serve();
    return granted;
  }

  /** Claims the key and hands it on, until no event waits. Never rejects. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    this.#calls.begin();
    while (this.#waiting.first !== undefined) {
      const claimed = await this.#claim();
      if (claimed !== undefined) await this.#handOn(claimed);
    }
    this.#calls.end();
    this.#isServing = false;
    this.#onIdle();
  }

  /**
   * Claims the key, and again while another process has it. Resolves with undefined if no event waits any
   * more. A store that fails refuses all events that wait, but not if it has said that the key is busy.
   */
  async #claim(): Promise<KeyClaim | undefined> {
    const warnings: Warning[] = [];
    const { leaseMs } = this.#services.settings;
    const claim = new Claim({ claimId: this.#id, retentionMs: leaseMs }, this.#services, warnings);
    let answer: ClaimAnswer;
    let hasFailed = false;
    try {
      answer = await claim.takeOrGoOn(this.#claimWait());
    } catch (error) {
      this.#waiting.refuseAll(error);
      this.#giveUp(claim);
      return undefined;
    }
    this.#hasAnswered = true;
    while (answer.state !== 'claimed') {
      // No key is ever completed, whatever a store says.
      const busy = answer.state === 'busy' ? answer : completedKey();
      this.#busyUntil = busy.endsAt;
      this.#tenureEndsAt = undefined;
      this.#waiting.refuseUnless(mayWait, () => this.#busyError());
      if (this.#waiting.first !== undefined) await this.#uncounted(pause(pollPauseMs(busy, hasFailed)));
      if (this.#waiting.first === undefined) break;
      const found: ClaimAnswer | undefined = await claim.take().catch(() => undefined);
      hasFailed ||= found === undefined;
      answer = found ?? busy;
    }
    if (answer.state === 'claimed') {
      this.#noteClaim(answer.result.attempt);
      return { claim, lease: answer.lease, warnings };
    }
    if (hasFailed) this.#giveUp(claim);
    return undefined;
  }

  /** Makes the next tenure longer if no other process has claimed the key since the last claim. */
  #noteClaim(number: number): void {
    const isAlone = this.#lastClaim !== undefined && number === this.#lastClaim + 1;
    if (this.#tenureEndsAt === undefined)
      this.#tenureMs = isAlone ? Math.min(2 * this.#tenureMs, LONGEST_TENURE_MS) : FIRST_TENURE_MS;
    this.#lastClaim = number;
  }

  /** The wait of a claim, on the terms of an event's claim: see `takeClaim` in `handle-event.ts`. */
  #claimWait(): Parameters<Claim['takeOrGoOn']>[0] {
    const { bodyMemory, store } = this.#services;
    const countsBody = (request: KeyRequest): boolean => request.countBody();
    if (store.mustWait() && !this.#waiting.first?.countBody()) return { waitMs: 0 };
    if (!store.queuesClaims) return {};
    const mayWaitLonger = (): boolean => {
      this.#waiting.refuseUnless(countsBody, () => bodyMemory.fullError());
      return this.#waiting.first !== undefined;
    };
    return { waitMs: this.#waiting.first?.claimWaitMs(store.commandTimeoutMs), mayWaitLonger };
  }

  /** Gives the key to one event after the other, and releases it. */
  async #handOn(claimed: KeyClaim): Promise<void> {
    const { claim, lease } = claimed;
    this.#busyUntil = 0;
    // An event that came while the key was released before does not begin another tenure.
    this.#tenureEndsAt ??= performance.now() + this.#tenureMs;
    const endsAt = this.#tenureEndsAt;
    let held: HeldKey | undefined;
    let noteGivenBack = (): void => {};
    // Renewals for handlers that do not end must not keep a process alive that has closed.
    lease.keep(() => held?.onTaken(), { keepsAlive: false });
    while (this.#waiting.first !== undefined) {
      noteGivenBack();
      const givenBack = new Promise<void>((resolve) => {
        noteGivenBack = resolve;
      });
      const ended = new Promise<void>((release) => {
        held = new HeldKey(claimed, release, givenBack);
        this.#waiting.grantFirst(held);
      });
      // The store has no part in the turn of a handler, so that it does not count for `close()`.
      this.#calls.end();
      await ended;
      this.#calls.begin();
      if (lease.state !== 'held' || performance.now() >= endsAt) break;
    }
    lease.stop();
    await claim.release([]);
    noteGivenBack();
    if (performance.now() < endsAt) return;
    this.#tenureEndsAt = undefined;
    // Other processes ask at least once within this time.
    if (this.#waiting.first !== undefined) await this.#uncounted(pause(POLL_MS));
  }

  /** Gives up, in the background, a claim that the store may have granted although it failed. */
  #giveUp(claim: Claim): void {
    this.#calls.begin();
    void claim.release([]).then(() => this.#calls.end());
  }

  /** Waits while the store has no part, so that the serving does not count for `close()`. */
  async #uncounted(wait: Promise<void>): Promise<void> {
    this.#calls.end();
    await wait;
    this.#calls.begin();
  }

  /** The error of an event that has waited for as long as it may. */
  #lateError(): UnavailableError {
    if (this.#hasAnswered) return this.#busyError();
    const message = `the store did not answer the claim of the key of the handler "${this.#handler}" in time`;
    return new UnavailableError('store_unavailable', message);
  }

  #busyError(): UnavailableError {
    const msLeft = Math.ceil(this.#busyUntil - performance.now());
    const end = msLeft > 0 ? `; if its process was killed, the key is free in ${msLeft} ms` : '';
    const held = 'is handling another event of the same key, or this one in an earlier run';
    const message = `the handler "${this.#handler}" ${held}${end}`;
    return new UnavailableError('key_busy', message);
  }
}

function completedKey(): Busy {
  return { state: 'busy', endsAt: performance.now() + POLL_MS };
}
