import { createMemoryStore, createReceiver, type Receiver, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { handledEntry } from '../../../support/handled-entry.ts';
import { KEY } from '../../../support/served.ts';

export const LEASE_MS = 200;

/** The steps in which calls must end: ten times what they take. */
const MAX_STEPS = 50;

const event = createEvent('transfer.succeeded');
const entry = handledEntry(event);

/** The end of a handler. */
export type End = 'succeed' | 'fail';

/** A call of the handler. */
interface Call {
  /** The name of a rerun, or "delivery". */
  readonly of: string;
  readonly process: Process;
  readonly succeed: () => void;
  readonly fail: () => void;
}

/** A receiver that can die: nothing that it asks reaches the store from then on. */
class Process {
  isDead = false;
  readonly receiver: Receiver;

  constructor(memory: Store, onCall: (process: Process, of: string) => Promise<void>) {
    const store: Store = {
      claim: (request) => (this.isDead ? { state: 'busy', msLeft: LEASE_MS } : memory.claim(request)),
      renew: (request) => (this.isDead ? { state: 'lost' } : memory.renew(request)),
      complete: (request) => (this.isDead ? { state: 'completed' } : memory.complete(request)),
      release: (request) => (this.isDead ? { state: 'lost' } : memory.release(request)),
      peek: (request) => memory.peek?.(request) ?? { state: 'unknown' },
    };
    this.receiver = createReceiver({ signingKey: KEY, store, leaseMs: LEASE_MS })
      .observe(() => {})
      .on('*', (_event, { rerun }) => onCall(this, rerun?.run ?? 'delivery'), { name: 'book' });
  }
}

/** Two processes that share a store, and one event that they run, once more or at all. */
export class RerunWorld {
  readonly #memory = createMemoryStore();
  readonly #processes: [Process, Process] = [this.#start(), this.#start()];
  readonly #running = new Set<Call>();
  /** The runs that were reported as processed. */
  readonly done: Set<string> = new Set();
  /** The promises that were broken. */
  readonly broken: string[] = [];
  readonly #pending = new Set<Promise<unknown>>();

  /** `isHandled` is true if the store knows that the event was handled. */
  constructor(isHandled: boolean) {
    if (!isHandled) return;
    void this.#memory.complete({ id: event.id, token: 'before', retentionMs: 86_400_000 });
    this.done.add('delivery');
  }

  #start(): Process {
    return new Process(this.#memory, (process, of) => this.#run(process, of));
  }

  #run(process: Process, of: string): Promise<void> {
    for (const call of this.#running) this.broken.push(`${of} began beside ${call.of}`);
    if (this.done.has(of)) this.broken.push(`${of} began again`);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => (): void => {
        this.#running.delete(call);
        settle();
      };
      const fail = end(() => reject(new Error('no database')));
      const call: Call = { of, process, succeed: end(resolve), fail };
      this.#running.add(call);
    });
  }

  rerun(index: 0 | 1, run: string): void {
    const process = this.#processes[index];
    const reported = process.receiver.rerun(entry, { handlers: ['book'], run });
    this.#follow(process, run, reported);
  }

  deliver(index: 0 | 1): void {
    const process = this.#processes[index];
    const replied = process.receiver.receive(deliveryOf(event)).then(({ body }) => JSON.parse(body));
    this.#follow(process, 'delivery', replied);
  }

  #follow(process: Process, of: string, ended: Promise<{ readonly outcome?: string }>): void {
    const followed = ended.then(({ outcome }) => {
      if (process.isDead) return;
      if (outcome === 'processed') this.done.add(of);
      if (outcome === 'duplicate' && !this.done.has(of)) this.broken.push(`${of} is a duplicate of nothing`);
    });
    this.#pending.add(followed);
  }

  end(how: End): void {
    for (const call of this.#running) call[how]();
  }

  /** The process dies, and another one takes its place. A handler of it may just have succeeded. */
  crash(index: 0 | 1, how: End): void {
    const process = this.#processes[index];
    process.isDead = true;
    this.#processes[index] = this.#start();
    for (const call of this.#running) if (call.process === process) call[how]();
    // Only so that nothing of it stays behind: its store does not hear of it.
    this.#pending.add(process.receiver.close({ graceMs: 0 }));
  }

  /** Ends all handlers until each call is answered. */
  async finish(pass: (ms: number) => Promise<void>): Promise<void> {
    let isOver = false;
    const settled = Promise.all(this.#pending).finally(() => {
      isOver = true;
    });
    settled.catch(() => {});
    for (let step = 0; step < MAX_STEPS && !isOver; step += 1) {
      await pass(LEASE_MS / 2);
      this.end('succeed');
    }
    if (isOver) await settled;
    else this.broken.push(`a call has no answer after ${MAX_STEPS} steps`);
  }
}
