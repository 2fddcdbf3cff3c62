import { type Busy, Claim, type ClaimAnswer, type ClaimServices, type Granted } from '../dedupe/claim.ts';
import type { Lease } from '../dedupe/lease.ts';
import { POLL_MS, pollPauseMs } from '../dedupe/poll.ts';
import { UnavailableError } from '../errors.ts';
import type { Warning } from '../outcomes/report.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { Activity } from '../timing/activity.ts';
import { Timer } from '../timing/time-limit.ts';
import type { Interruption } from './interruption.ts';

/**
 * The time for which the events of one process hand a key on. Then it is released, and the processes whose
 * events wait for it have a chance to claim it.
 */
const LONGEST_TENURE_MS = 2_000;

/** The terms on which an event waits for a key. */
export interface KeyRequest {
  /** When the event was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** When to give up, by the monotonic clock. */
  readonly until: number;
  /** Returns the longest wait of a claim before it is sent, in milliseconds. */
  readonly claimWaitMs: () => number;
  readonly interruption: Interruption;
  /** False if the event does not wait for a busy key. */
  readonly waitsIfBusy: boolean;
  /** Counts the body of the event while it waits; returns false if it does not fit: then it must not wait. */
  readonly countBody: () => boolean;
}

/** The key while a handler has it. */
export interface HeldKey {
  readonly claim: Claim;
  readonly lease: Lease;
  /** The problems of the claim so far. */
  readonly warnings: readonly Warning[];
  /** Called once if another process takes the key. */
  onTaken: () => void;
  /** Gives the key back; further calls do nothing. */
  readonly release: () => void;
  /** Resolves once another event of this process has the key, or it is released in the store. */
  readonly givenBack: Promise<void>;
}

/** An event that waits for the key. */
interface Waiting {
  readonly request: KeyRequest;
  readonly grant: (key: HeldKey) => void;
  readonly refuse: (error: unknown) => void;
}

/** The services that all keys of a receiver share. */
export interface KeyServices extends ClaimServices {
  readonly bodyMemory: BodyMemory;
}

/** A claim of the key that was granted. */
interface KeyClaim extends Granted {
  readonly claim: Claim;
  readonly warnings: readonly Warning[];
}

/**
 * The events of this process that need one key of a handler. They have it one at a time, in the order of
 * `created_at`, then of arrival. The store is asked once for all of them, and not at all while one has the
 * key.
 */
export class KeyQueue {
  readonly #id: string;
  readonly #handler: string;
  readonly #services: KeyServices;
  readonly #activity: Activity;
  readonly #onIdle: () => void;
  readonly #waiting: Waiting[] = [];
  /** True while an event waits for the key or has it, and while the key is released. */
  #isServing = false;
  /** When the key is free if its process was killed, by the monotonic clock; 0 if that is unknown. */
  #busyUntil = 0;

  /** `id` is the key's id in the store. `onIdle` is called once no event needs the key any more. */
  constructor(
    { id, handler }: { readonly id: string; readonly handler: string },
    services: KeyServices,
    activity: Activity,
    onIdle: () => void,
  ) {
    this.#id = id;
    this.#handler = handler;
    this.#services = services;
    this.#activity = activity;
    this.#onIdle = onIdle;
  }

  /**
   * Acquires the key. Rejects with `key_busy` if it is not free in time, with the error of a store that
   * fails, and as soon as the run is aborted.
   */
  async acquire(request: KeyRequest): Promise<HeldKey> {
    request.interruption.check();
    if (this.#isServing && !mayWait(request)) throw this.#busyError();
    return new Promise((resolve, reject) => {
      this.#wait(request, resolve, reject);
      if (!this.#isServing) void this.#serve();
    });
  }

  #wait(request: KeyRequest, resolve: (key: HeldKey) => void, reject: (error: unknown) => void): void {
    const stop = (): void => {
      timer.clear();
      stopListening();
    };
    const waiting: Waiting = {
      request,
      grant: (key) => {
        stop();
        resolve(key);
      },
      refuse: (error) => {
        stop();
        reject(error);
      },
    };
    const giveUp = (error: unknown): void => {
      if (this.#remove(waiting)) waiting.refuse(error);
    };
    const timer = new Timer(request.until, () => giveUp(this.#busyError()));
    const stopListening = request.interruption.onEnd(giveUp);
    const before = this.#waiting.findLastIndex((other) => other.request.createdAt <= request.createdAt);
    this.#waiting.splice(before + 1, 0, waiting);
  }

  /** Returns false if the event does not wait any more. */
  #remove(waiting: Waiting): boolean {
    const index = this.#waiting.indexOf(waiting);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  /** Claims the key and hands it on, until no event waits. Never rejects. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#waiting.length > 0) {
      this.#activity.begin();
      const claimed = await this.#claim();
      this.#activity.end();
      if (claimed !== undefined) await this.#handOn(claimed);
    }
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
      for (const { refuse } of this.#waiting.splice(0)) refuse(error);
      void claim.giveUp();
      return undefined;
    }
    while (answer.state !== 'claimed') {
      // No key is ever completed, whatever a store says.
      const busy = answer.state === 'busy' ? answer : completedKey();
      this.#busyUntil = busy.endsAt;
      this.#refuseUnless(mayWait, () => this.#busyError());
      if (this.#waiting.length > 0) await pause(pollPauseMs(busy, hasFailed));
      if (this.#waiting.length === 0) break;
      const found: ClaimAnswer | undefined = await claim.take().catch(() => undefined);
      hasFailed ||= found === undefined;
      answer = found ?? busy;
    }
    this.#busyUntil = 0;
    if (answer.state === 'claimed') return { ...answer, claim, warnings };
    if (hasFailed) void claim.giveUp();
    return undefined;
  }

  /** The same terms as those of the claim of an event: see `takeClaim` in `handle-event.ts`. */
  #claimWait(): Parameters<Claim['takeOrGoOn']>[0] {
    const { store } = this.#services;
    const [first] = this.#waiting;
    if (store.mustWait() && !this.#waiting.every(({ request }) => request.countBody())) return { waitMs: 0 };
    if (!store.queuesClaims) return {};
    const mayWaitLonger = (): boolean => {
      this.#refuseUnless(
        ({ countBody }) => countBody(),
        () => this.#services.bodyMemory.fullError(),
      );
      return this.#waiting.length > 0;
    };
    return { waitMs: first?.request.claimWaitMs(), mayWaitLonger };
  }

  #refuseUnless(isRight: (request: KeyRequest) => boolean, error: () => UnavailableError): void {
    for (const waiting of this.#waiting.filter(({ request }) => !isRight(request))) {
      this.#remove(waiting);
      waiting.refuse(error());
    }
  }

  /** Gives the key to one event after the other, and releases it. */
  async #handOn({ claim, lease, warnings }: KeyClaim): Promise<void> {
    const endsAt = performance.now() + LONGEST_TENURE_MS;
    let held: HeldKey | undefined;
    let noteGivenBack = (): void => {};
    // Renewals for handlers that do not end must not keep a process alive that has closed.
    lease.keep(() => held?.onTaken(), { keepsAlive: false });
    let next = this.#waiting.shift();
    while (next !== undefined) {
      const { grant } = next;
      noteGivenBack();
      const givenBack = new Promise<void>((resolve) => {
        noteGivenBack = resolve;
      });
      await new Promise<void>((release) => {
        held = { claim, lease, warnings, onTaken: () => {}, release, givenBack };
        grant(held);
      });
      next = lease.state === 'held' && performance.now() < endsAt ? this.#waiting.shift() : undefined;
    }
    const mustYield = this.#waiting.length > 0;
    lease.stop();
    this.#activity.begin();
    await claim.release([]);
    this.#activity.end();
    noteGivenBack();
    // Other processes ask at least once within this time.
    if (mustYield) await pause(POLL_MS);
  }

  #busyError(): UnavailableError {
    const msLeft = Math.ceil(this.#busyUntil - performance.now());
    const end = msLeft > 0 ? `; if its process was killed, the key is free in ${msLeft} ms` : '';
    const message = `the handler "${this.#handler}" is handling another event of the same key${end}`;
    return new UnavailableError('key_busy', message);
  }
}

function completedKey(): Busy {
  return { state: 'busy', endsAt: performance.now() + POLL_MS };
}

/** Returns true if an event may wait for a busy key. */
function mayWait({ waitsIfBusy, countBody }: KeyRequest): boolean {
  return waitsIfBusy && countBody();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
