import { Claim, type ClaimAnswer, type ClaimServices, type Granted } from '../dedupe/claim.ts';
import type { Lease } from '../dedupe/lease.ts';
import { POLL_MS, pollPauseMs } from '../dedupe/poll.ts';
import { UnavailableError } from '../errors.ts';
import type { Warning } from '../outcomes/report.ts';
import type { Activity } from '../timing/activity.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
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
  /** The longest wait of the claim before it is sent. */
  readonly claimWaitMs: number;
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
  /**
   * Gives the key back; further calls do nothing. Resolves once another event of this process has the key, or
   * it is released in the store.
   */
  readonly release: () => Promise<void>;
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
  readonly #services: ClaimServices;
  readonly #activity: Activity;
  readonly #onIdle: () => void;
  readonly #waiting: Waiting[] = [];
  /** The serving of the events that wait; undefined if there are none, and none has the key. */
  #serving: Promise<void> | undefined;
  /** When the key is free if its process was killed, by the monotonic clock; 0 if that is unknown. */
  #busyUntil = 0;

  /** `id` is the key's id in the store. `onIdle` is called once no event needs the key any more. */
  constructor(
    { id, handler }: { readonly id: string; readonly handler: string },
    services: ClaimServices,
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
    const { interruption, until } = request;
    if (this.#serving !== undefined && !mayWait(request)) throw this.#busyError();
    const waiting = new Waiting(request);
    this.#insert(waiting);
    this.#serving ??= this.#serve();
    try {
      const waitMs = Math.max(0, until - performance.now());
      return await withTimeLimit(interruption.orAbort(waiting.granted), waitMs, () => this.#busyError());
    } catch (error) {
      this.#remove(waiting);
      // The key may have been granted in the same moment.
      void waiting.granted.then(
        (key) => key.release(),
        () => {},
      );
      throw error;
    }
  }

  #insert(waiting: Waiting): void {
    const { createdAt } = waiting.request;
    const before = this.#waiting.findLastIndex(({ request }) => request.createdAt <= createdAt);
    this.#waiting.splice(before + 1, 0, waiting);
  }

  #remove(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Claims the key and hands it on, until no event waits. Never rejects. */
  async #serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      const claimed = await this.#claim();
      if (claimed !== undefined) await this.#handOn(claimed);
    }
    this.#serving = undefined;
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
      // The store may have granted the claim.
      void claim.release([]);
      return undefined;
    }
    while (answer.state !== 'claimed') {
      // No key is ever completed.
      const busy = answer.state === 'busy' ? answer : ({ state: 'busy', endsAt: 0 } as const);
      this.#busyUntil = busy.endsAt;
      this.#refuseUnless(mayWait);
      if (this.#waiting.length > 0) await pause(pollPauseMs(busy, hasFailed));
      if (this.#waiting.length === 0) break;
      const found: ClaimAnswer | undefined = await claim.take().catch(() => undefined);
      hasFailed ||= found === undefined;
      answer = found ?? busy;
    }
    if (answer.state === 'claimed') return { ...answer, claim, warnings };
    if (hasFailed) void claim.release([]);
    return undefined;
  }

  /** The same terms as those of the claim of an event: see `takeClaim` in `handle-event.ts`. */
  #claimWait(): Parameters<Claim['takeOrGoOn']>[0] {
    const { store } = this.#services;
    const [first] = this.#waiting;
    if (store.mustWait() && !this.#waiting.every(({ request }) => request.countBody())) return { waitMs: 0 };
    if (!store.queuesClaims) return {};
    const mayWaitLonger = (): boolean => {
      this.#refuseUnless((request) => request.countBody());
      return this.#waiting.length > 0;
    };
    return { waitMs: first?.request.claimWaitMs, mayWaitLonger };
  }

  #refuseUnless(isRight: (request: KeyRequest) => boolean): void {
    for (const waiting of this.#waiting.filter(({ request }) => !isRight(request))) {
      this.#remove(waiting);
      waiting.refuse(this.#busyError());
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
      await new Promise<void>((end) => {
        const release = (): Promise<void> => {
          end();
          return givenBack;
        };
        held = { claim, lease, warnings, onTaken: () => {}, release };
        grant(held);
      });
      next = lease.state === 'held' && performance.now() < endsAt ? this.#waiting.shift() : undefined;
    }
    lease.stop();
    this.#activity.begin();
    await claim.release([]);
    this.#activity.end();
    noteGivenBack();
    // Other processes ask at least once within this time.
    if (this.#waiting.length > 0) await pause(POLL_MS);
  }

  #busyError(): UnavailableError {
    const msLeft = Math.ceil(this.#busyUntil - performance.now());
    const end = msLeft > 0 ? `; if its process was killed, the key is free in ${msLeft} ms` : '';
    const message = `the handler "${this.#handler}" is handling another event of the same key${end}`;
    return new UnavailableError('key_busy', message);
  }
}

/** An event that waits for the key. */
class Waiting {
  readonly request: KeyRequest;
  readonly granted: Promise<HeldKey>;
  grant: (key: HeldKey) => void = () => {};
  refuse: (error: unknown) => void = () => {};

  constructor(request: KeyRequest) {
    this.request = request;
    this.granted = new Promise((resolve, reject) => {
      this.grant = resolve;
      this.refuse = reject;
    });
  }
}

/** Returns true if an event may wait for a busy key. */
function mayWait({ waitsIfBusy, countBody }: KeyRequest): boolean {
  return waitsIfBusy && countBody();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
