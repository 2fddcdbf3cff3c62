import { type Busy, Claim, type ClaimReply, type ClaimServices, type Granted } from '../../dedupe/claim.ts';
import { POLL_MS, pollPauseMs } from '../../dedupe/poll.ts';
import { UnavailableError } from '../../errors.ts';
import type { Warning } from '../../outcomes/report.ts';
import type { BodyMemory } from '../../request/body-memory.ts';
import type { Activity } from '../../timing/activity.ts';
import { pause, performance } from '../../timing/process-clock.ts';
import { countsBodyToWait, HeldKey, type KeyClaim, type KeyRequest, WaitingEvents } from './key-wait.ts';
import { TimeSlice } from './time-slice.ts';

/** The services that all keys of a receiver share. */
export interface KeyServices extends ClaimServices {
  readonly bodyMemory: BodyMemory;
}

/**
 * - `idle`: no event needs the key, and it is released.
 * - `calling`: it is being claimed or released in the store; `close()` waits for that.
 * - `waiting`: a handler or another process has it, or may take it. No call of the store is under way.
 */
type QueueState = 'idle' | 'calling' | 'waiting';

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
  readonly #slice = new TimeSlice();
  #state: QueueState = 'idle';
  /**
   * When the lease of the process with the key ends, by the monotonic clock; 0 if no other process has it.
   * Undefined until the store has answered a claim: until then, nothing is known of the key.
   */
  #busyUntil: number | undefined;

  /**
   * `id` is the key's id in the store. `calls` counts the queues that are claiming or releasing their keys.
   * `onIdle` is called once no event needs the key any more.
   */
  constructor(id: string, handler: string, services: KeyServices, calls: Activity, onIdle: () => void) {
    this.#id = id;
    this.#handler = handler;
    this.#services = services;
    this.#calls = calls;
    this.#onIdle = onIdle;
  }

  /**
   * Acquires the key. Rejects if it is not free in time (`key_busy`), if the store fails, and as soon as the
   * run is aborted.
   */
  async acquire(request: KeyRequest): Promise<HeldKey> {
    if (this.#state !== 'idle' && !countsBodyToWait(request)) throw this.#busyError();
    const granted = this.#waiting.add(request, () => this.#lateError());
    if (this.#state === 'idle') void this.#serve();
    return granted;
  }

  /** Counts the state `calling` for `close()`. */
  #enter(state: QueueState): void {
    const before = this.#state;
    this.#state = state;
    if (state === 'calling') this.#calls.begin();
    else if (before === 'calling') this.#calls.end();
  }

  /** Claims the key and hands it on, until no event waits. Never rejects. */
  async #serve(): Promise<void> {
    this.#enter('calling');
    while (this.#waiting.first !== undefined) {
      const claimed = await this.#claim();
      if (claimed !== undefined) await this.#handOn(claimed);
    }
    this.#enter('idle');
    this.#onIdle();
  }

  /**
   * Claims the key, and again while another process has it. Resolves with undefined if no event waits any
   * more. If the first claim fails, all waiting events are refused; a later failure refuses none.
   */
  async #claim(): Promise<KeyClaim | undefined> {
    const warnings: Warning[] = [];
    const { leaseMs } = this.#services.settings;
    const claim = new Claim({ claimId: this.#id, retentionMs: leaseMs }, this.#services, warnings);
    let reply: ClaimReply | undefined;
    try {
      reply = await claim.takeOrProceedUnclaimed(this.#claimWait());
    } catch (error) {
      this.#waiting.refuseAll(error);
      this.#giveUp(claim);
      return undefined;
    }
    if (reply.state !== 'claimed') reply = await this.#claimBusy(claim, reply);
    if (reply === undefined) return undefined;
    this.#slice.noteClaim(reply.result.attempt);
    return { claim, lease: reply.lease, warnings };
  }

  /** Claims a key that another process has, until it is free. Resolves with undefined if no event waits. */
  async #claimBusy(claim: Claim, firstReply: Exclude<ClaimReply, Granted>): Promise<Granted | undefined> {
    let busy = toBusy(firstReply);
    let hasFailed = false;
    for (;;) {
      this.#busyUntil = busy.endsAt;
      this.#slice.end();
      this.#waiting.refuseUnless(countsBodyToWait, () => this.#busyError());
      if (this.#waiting.first === undefined) break;
      this.#enter('waiting');
      await pause(pollPauseMs(busy, hasFailed));
      this.#enter('calling');
      if (this.#waiting.first === undefined) break;
      const reply = await claim.take().catch(() => undefined);
      if (reply?.state === 'claimed') return reply;
      if (reply === undefined) hasFailed = true;
      else busy = toBusy(reply);
    }
    if (hasFailed) this.#giveUp(claim);
    return undefined;
  }

  /** Returns the wait of a claim, by the rules of `takeClaim` in `handle-event.ts`. */
  #claimWait(): Parameters<Claim['takeOrProceedUnclaimed']>[0] {
    const { bodyMemory, store } = this.#services;
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
    const endsAt = this.#slice.beginOrContinue();
    let held: HeldKey | undefined;
    let noteGivenBack = (): void => {};
    // After `close()`, renewals for handlers that do not end must not keep the process alive.
    lease.startRenewing(() => held?.onTaken(), { keepsAlive: false });
    while (this.#waiting.first !== undefined) {
      noteGivenBack();
      const givenBack = new Promise<void>((resolve) => {
        noteGivenBack = resolve;
      });
      const ended = new Promise<void>((release) => {
        held = new HeldKey(claimed, release, givenBack);
        this.#waiting.grantFirst(held);
      });
      this.#enter('waiting');
      await ended;
      this.#enter('calling');
      if (lease.state !== 'held' || performance.now() >= endsAt) break;
    }
    lease.stop();
    await claim.release([]);
    noteGivenBack();
    if (performance.now() < endsAt) return;
    this.#slice.end();
    if (this.#waiting.first === undefined) return;
    this.#enter('waiting');
    // In this pause the other processes that wait for the key claim it at least once.
    await pause(POLL_MS);
    this.#enter('calling');
  }

  /** Gives up, in the background, a claim that the store may have granted although it failed. */
  #giveUp(claim: Claim): void {
    this.#calls.begin();
    void claim.release([]).then(() => this.#calls.end());
  }

  /** The error of an event that has waited for as long as it may. */
  #lateError(): UnavailableError {
    if (this.#busyUntil !== undefined) return this.#busyError();
    const message = `the store did not answer the claim of the key of the handler "${this.#handler}" in time`;
    return new UnavailableError('store_unavailable', message);
  }

  #busyError(): UnavailableError {
    const msLeft = Math.ceil((this.#busyUntil ?? 0) - performance.now());
    const end = msLeft > 0 ? `; if its process was killed, the key is free in ${msLeft} ms` : '';
    const held = 'is handling another event of the same key, or this one in an earlier run';
    const message = `the handler "${this.#handler}" ${held}${end}`;
    return new UnavailableError('key_busy', message);
  }
}

function countsBody(request: KeyRequest): boolean {
  return request.countBody();
}

/** No key is ever completed, whatever a store says. */
function toBusy(reply: Exclude<ClaimReply, Granted>): Busy {
  return reply.state === 'busy' ? reply : { state: 'busy', endsAt: performance.now() + POLL_MS };
}
