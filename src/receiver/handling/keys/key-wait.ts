import type { Claim } from '../../dedupe/claim.ts';
import type { Lease } from '../../dedupe/lease.ts';
import type { UnavailableError } from '../../errors.ts';
import type { Warning } from '../../outcomes/report.ts';
import type { Deadline } from '../../timing/deadline.ts';
import { Timer } from '../../timing/timer.ts';
import type { Interruption } from '../handlers/interruption.ts';

// These are classes, not literals. If literals often survive a garbage collection, V8 allocates them in the
// old generation, and moves there all that they refer to. With literals an event took a fifth more processor
// time (`posthorn-redis-keyed` in `bench`).

/** The parts of a run that decide how long it waits. */
interface WaitingRun {
  readonly input: {
    readonly identity: { readonly createdAtMs?: number | undefined };
    /** When the delivery arrived, in milliseconds since the epoch. */
    readonly receivedAt: number;
    readonly deadline: Pick<Deadline, 'claimWaitMs'>;
    readonly origin: { readonly waitsForBusyKeys: boolean };
  };
  readonly interruption: Interruption;
  readonly resources: { countBody(): boolean };
}

/** An event that needs a key for one of its handlers, and how long it may wait. */
export class KeyRequest {
  /** When the event was created, or when it arrived if that is not known, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** When to give up, by the monotonic clock. */
  readonly until: number;
  readonly interruption: Interruption;
  /** False if the event does not wait for a busy key. */
  readonly waitsIfBusy: boolean;
  readonly #run: WaitingRun;

  constructor(run: WaitingRun, until: number) {
    this.createdAt = run.input.identity.createdAtMs ?? run.input.receivedAt;
    this.until = until;
    this.interruption = run.interruption;
    this.waitsIfBusy = run.input.origin.waitsForBusyKeys;
    this.#run = run;
  }

  /** Returns the longest wait of a claim before it is sent, in milliseconds. */
  claimWaitMs(commandTimeoutMs: number): number {
    return this.#run.input.deadline.claimWaitMs(commandTimeoutMs);
  }

  /**
   * Counts the body of the waiting event. Returns false if the memory is full: the event must not wait then.
   */
  countBody(): boolean {
    return this.#run.resources.countBody();
  }
}

/** A claim of a key, and the problems with it so far. */
export interface KeyClaim {
  readonly claim: Claim;
  readonly lease: Lease;
  readonly warnings: readonly Warning[];
}

/** The key while a handler has it. */
export class HeldKey {
  readonly claim: Claim;
  readonly lease: Lease;
  readonly warnings: readonly Warning[];
  /** Gives the key back; further calls do nothing. */
  readonly release: () => void;
  /** Resolves once another event of this process has the key, or it is released in the store. */
  readonly givenBack: Promise<void>;
  /** Called once if another process takes the key. */
  onTaken: () => void = () => {};

  constructor({ claim, lease, warnings }: KeyClaim, release: () => void, givenBack: Promise<void>) {
    this.claim = claim;
    this.lease = lease;
    this.warnings = warnings;
    this.release = release;
    this.givenBack = givenBack;
  }
}

/** Returns true if the event may wait for a busy key, and then counts its body. */
export function countsBodyToWait(request: KeyRequest): boolean {
  return request.waitsIfBusy && request.countBody();
}

/** The events that wait for a key, in the order of their creation, then of arrival. */
export class WaitingEvents {
  readonly #waiting: WaitingEvent[] = [];

  /** Undefined if no event waits. */
  get first(): KeyRequest | undefined {
    return this.#waiting[0]?.request;
  }

  /**
   * Adds an event. Resolves once it gets the key. Rejects if the event is refused, if its run is aborted, or
   * with `lateError` once its time is over.
   */
  add(request: KeyRequest, lateError: () => Error): Promise<HeldKey> {
    return new Promise((resolve, reject) => {
      const waiting = new WaitingEvent(request, resolve, reject);
      const before = this.#waiting.findLastIndex((other) => other.request.createdAt <= request.createdAt);
      this.#waiting.splice(before + 1, 0, waiting);
      const timer = new Timer(request.until, () => this.#refuse(waiting, lateError()));
      const stopListening = request.interruption.onEnd((reason) => this.#refuse(waiting, reason));
      waiting.stop = () => {
        timer.clear();
        stopListening();
      };
    });
  }

  /** Gives the key to the first event. */
  grantFirst(key: HeldKey): void {
    const waiting = this.#waiting.shift();
    waiting?.stop();
    waiting?.grant(key);
  }

  refuseAll(error: unknown): void {
    for (const waiting of [...this.#waiting]) this.#refuse(waiting, error);
  }

  /** Refuses the events for which `mayStay` returns false. */
  refuseUnless(mayStay: (request: KeyRequest) => boolean, error: () => UnavailableError): void {
    for (const waiting of this.#waiting.filter(({ request }) => !mayStay(request)))
      this.#refuse(waiting, error());
  }

  #refuse(waiting: WaitingEvent, error: unknown): void {
    const index = this.#waiting.indexOf(waiting);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    waiting.stop();
    waiting.refuse(error);
  }
}

class WaitingEvent {
  readonly request: KeyRequest;
  readonly grant: (key: HeldKey) => void;
  readonly refuse: (error: unknown) => void;
  /** Ends its timer and its listener. */
  stop: () => void = () => {};

  constructor(request: KeyRequest, grant: (key: HeldKey) => void, refuse: (error: unknown) => void) {
    this.request = request;
    this.grant = grant;
    this.refuse = refuse;
  }
}
