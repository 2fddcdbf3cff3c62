import { enqueueingId, handlingId } from '../../../src/receiver/dedupe/claim-id.ts';
import { signedHeaders } from '../../../src/testing/signed-headers.ts';
import { clock } from '../clock.ts';
import { KEY } from '../event.ts';
import type { EventKeys } from './configuration.ts';
import type { WalkProcess } from './process.ts';

/** A request of the service. */
export interface SentDelivery {
  readonly name: string;
  readonly process: WalkProcess;
  /** By the monotonic clock. */
  readonly sentAt: number;
  /** Whether it is one of the service's attempts; the others are duplicates. */
  readonly isAttempt: boolean;
  /** Whether no retry follows, as the receiver can tell: by the age of the event when it arrives. */
  isLastByAge: boolean;
  /** When the process has got it: later than it was sent if the process stands still. */
  receivedAt: number | undefined;
  status: number | undefined;
  /** The service waits no longer. */
  isGivenUp: boolean;
}

/** A claim of a concurrency key, by the handlers of one process. */
export class KeyClaim {
  readonly process: WalkProcess;
  /** By the monotonic clock. */
  readonly sentAt: number = clock.now;
  /** The kinds of its operations that had a fault. */
  readonly faults: Set<string> = new Set();
  /** When its process gave it back first. */
  givenBackAt = Number.POSITIVE_INFINITY;
  /** It was granted later than a claim does no harm. */
  isPastLimit = false;

  constructor(process: WalkProcess) {
    this.process = process;
  }

  /** Its lease may run out: its process does not give it back, or the store is not told, or in vain. */
  get mayRunOut(): boolean {
    const { faults, process } = this;
    return (
      process.state !== 'running' ||
      process.stoodStillAt >= this.sentAt ||
      ['renew', 'release', 'complete'].some((kind) => faults.has(kind)) ||
      this.isPastLimit
    );
  }
}

/** A claim of an event, by a run, a drop or a look at its id. */
export class SentClaim extends KeyClaim {
  readonly event: SimulatedEvent;
  /** The step in which the store granted it first; undefined until then. */
  grantedAt: number | undefined;

  constructor(process: WalkProcess, event: SimulatedEvent) {
    super(process);
    this.event = event;
  }
}

/** The run of one handler. */
export interface HandlerRun {
  readonly process: WalkProcess;
  readonly handler: number;
  readonly startedAt: number;
  /** The token of its claim; undefined without a claim. */
  readonly token: string | undefined;
  readonly isAborted: () => boolean;
  /** The name of the rerun; undefined for any other run. */
  readonly rerun: string | undefined;
  /** The id of its concurrency key in the store; undefined without one. */
  readonly keyId: string | undefined;
  /** The token of the key's claim; undefined without one. */
  readonly keyToken: string | undefined;
  /** When its signal aborted. */
  abortedAt: number;
  state: 'running' | 'succeeded' | 'failed';
}

/** Signing takes as long as all the rest of a delivery, and the events of all walks are alike. */
const signed = new Map<
  string,
  { readonly body: Uint8Array; readonly headers: Readonly<Record<string, string>> }
>();

function signedRequest(id: string, createdAt: number) {
  const text = JSON.stringify({
    id,
    type: 'transfer.succeeded',
    created_at: new Date(createdAt).toISOString(),
    data: { id },
  });
  const known = signed.get(text);
  if (known !== undefined) return known;
  const body = Buffer.from(text);
  const headers = { ...signedHeaders(body, { key: KEY }), 'content-length': String(body.byteLength) };
  if (signed.size > 10_000) signed.clear();
  signed.set(text, { body, headers });
  return { body, headers };
}

/** An event of the service, and all that has happened to it. */
export class SimulatedEvent {
  readonly id: string;
  readonly ids: readonly string[];
  readonly keys: EventKeys;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** By the monotonic clock. */
  readonly createdAt: number = clock.now;
  /** Its handlers always fail, until the world comes to rest. */
  readonly isPoison: boolean;

  readonly deliveries: SentDelivery[] = [];
  readonly runs: HandlerRun[] = [];
  /** Handlers that have succeeded, by their number. */
  readonly succeeded: Set<number> = new Set();
  /** The step in which the store recorded the completion; undefined once it has forgotten that. */
  completedAt: number | undefined;
  isDropped = false;
  /** An accept of it has succeeded. */
  hasAcceptSucceeded = false;
  /** A queue has taken it. */
  isQueued = false;
  /** The deliveries that have sent its job to the queue. */
  jobsSent = 0;
  /** The facts that may excuse a broken promise. */
  readonly faults: Set<string> = new Set();
  /**
   * Handlers that have finished, as the store or the job was told, by the id of the claim and their name: the
   * step in which that was recorded.
   */
  readonly recorded: Map<string, number> = new Map();
  /** The reruns that were reported as processed, and the processes of those that are not recorded yet. */
  readonly rerunsDone: Set<string> = new Set();
  /** When the store forgot something of it. */
  forgottenAt = 0;

  constructor(id: string, isPoison: boolean, keys: EventKeys) {
    this.id = id;
    this.ids = [handlingId(id), enqueueingId(id)];
    this.keys = keys;
    this.isPoison = isPoison;
    const { body, headers } = signedRequest(id, clock.wallTime);
    this.body = body;
    this.headers = headers;
  }

  get attempts(): readonly SentDelivery[] {
    return this.deliveries.filter(({ isAttempt }) => isAttempt);
  }

  /** The service got a 2xx in time. */
  get isAccepted(): boolean {
    return this.deliveries.some(({ status, isGivenUp }) => isSuccess(status) && !isGivenUp);
  }

  get running(): readonly HandlerRun[] {
    return this.runs.filter(({ state }) => state === 'running');
  }
}

export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status < 300;
}
