import { clock } from '../clock.ts';
import type { SimulatedEvent } from './simulated-event.ts';

export type StoreOperation = 'claim' | 'renew' | 'complete' | 'release' | 'peek';

export type OperationKind = StoreOperation | 'get' | 'put' | 'remove' | 'command' | 'handler' | 'schema';

/** The kind of service that performs an operation. */
export type Performer = 'store' | 'letters' | 'queue' | 'application';

const performers: Readonly<Record<OperationKind, Performer>> = {
  claim: 'store',
  renew: 'store',
  complete: 'store',
  release: 'store',
  peek: 'store',
  get: 'letters',
  put: 'letters',
  remove: 'letters',
  command: 'queue',
  handler: 'application',
  schema: 'application',
};

/** An operation as it is sent. */
export interface Sent<T> {
  readonly kind: OperationKind;
  /** Unique in its process. */
  readonly name: string;
  /** The event that it is about; undefined for an operation that is about none. */
  readonly event: SimulatedEvent | undefined;
  /** Of the claim that it belongs to. */
  readonly token?: string | undefined;
  /** How long it takes at most without a fault. */
  readonly limitMs: number;
  /** It is performed however late it comes. */
  readonly mayComeLate: boolean;
  readonly perform: () => T;
}

/** An operation that a process has sent, and whose answer it waits for. */
export class PendingOperation {
  readonly kind: OperationKind;
  readonly performer: Performer;
  readonly name: string;
  readonly event: SimulatedEvent | undefined;
  readonly token: string | undefined;
  /** By the monotonic clock. */
  readonly sentAt: number = clock.now;
  readonly limitMs: number;
  readonly mayComeLate: boolean;
  /** True once it has been performed. */
  hasArrived = false;
  /** Its client had repeated it, and both have been performed. */
  #hasArrivedAgain = false;
  /**
   * A `late` answer may take any time, and a `lost` one never comes. Nor does that of a `delayed` operation,
   * which is performed only when its time is over.
   */
  fate: 'on time' | 'late' | 'lost' | 'delayed' = 'on time';
  readonly #perform: () => void;
  readonly #reject: (error: Error) => void;
  #give: () => void = () => {};

  private constructor(
    { kind, name, event, token, limitMs, mayComeLate }: Sent<unknown>,
    perform: () => () => void,
    reject: (error: Error) => void,
  ) {
    this.kind = kind;
    this.performer = performers[kind];
    this.name = name;
    this.event = event;
    this.token = token;
    this.limitMs = limitMs;
    this.mayComeLate = mayComeLate;
    this.#perform = () => {
      this.#give = perform();
    };
    this.#reject = reject;
  }

  /** Sends an operation; the promise is settled when the world says. */
  static send<T>(sent: Sent<T>): { readonly operation: PendingOperation; readonly answer: Promise<T> } {
    let settle: { resolve: (value: T) => void; reject: (error: unknown) => void } | undefined;
    const answer = new Promise<T>((resolve, reject) => {
      settle = { resolve, reject };
    });
    const perform = (): (() => void) => {
      try {
        const value = sent.perform();
        return () => settle?.resolve(value);
      } catch (error) {
        return () => settle?.reject(error);
      }
    };
    return { operation: new PendingOperation(sent, perform, (error) => settle?.reject(error)), answer };
  }

  /** Its process waits in vain for an answer. */
  get isLost(): boolean {
    return this.fate === 'lost' || this.fate === 'delayed';
  }

  /** By then it is performed and answered, unless there is a fault. */
  get dueBy(): number {
    return this.sentAt + this.limitMs;
  }

  /** It may arrive now, for the first time or once more: an operation that has no answer may be repeated. */
  get mayArrive(): boolean {
    if (this.fate === 'delayed' && clock.now < this.dueBy) return false;
    return !this.hasArrived || (this.mayComeLate && this.fate !== 'on time' && !this.#hasArrivedAgain);
  }

  /**
   * Performs it, unless that has happened. Claims and renewals carry a time after which a server does not
   * perform them.
   */
  arrive(): void {
    if (this.hasArrived) return;
    this.hasArrived = true;
    const isTimed = (this.kind === 'claim' || this.kind === 'renew') && !this.mayComeLate;
    if (!isTimed || clock.now < this.dueBy) this.#perform();
  }

  /** Performs it once more. */
  arriveAgain(): void {
    this.#hasArrivedAgain = true;
    this.#perform();
  }

  /** Performs it, unless that has happened, and gives its answer to the process. */
  reply(): void {
    this.arrive();
    this.#give();
  }

  fail(error: Error): void {
    this.#reject(error);
  }
}
