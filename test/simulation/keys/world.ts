import { keyId } from '../../../src/receiver/dedupe/claim-id.ts';
import { Completions } from '../../../src/receiver/dedupe/retries.ts';
import type { Store } from '../../../src/receiver/dedupe/store.ts';
import { TimeLimitedStore } from '../../../src/receiver/dedupe/time-limited.ts';
import { AbortedError } from '../../../src/receiver/errors.ts';
import { Interruption } from '../../../src/receiver/handling/handlers/interruption.ts';
import { KeyQueue } from '../../../src/receiver/handling/keys/key-queue.ts';
import { type HeldKey, KeyRequest, WaitingEvents } from '../../../src/receiver/handling/keys/key-wait.ts';
import { rulesOfDelays } from '../../../src/receiver/provider/retry-rules.ts';
import { BodyMemory } from '../../../src/receiver/request/body-memory.ts';
import { Activity } from '../../../src/receiver/timing/activity.ts';
import { createMemoryStore } from '../../../src/stores/memory/memory.ts';
import { clock } from '../clock.ts';
import { StoreRecord } from '../store-record.ts';

const LEASE_MS = 1_200;
const COMMAND_TIMEOUT_MS = 800;
const WAIT_MS = 1_000;
const ID = keyId('book', 'x');

/** The processes of the events that need the key. */
const EVENTS = ['A', 'A', 'B'] as const;

/** Something that can happen now. */
interface Action {
  readonly name: string;
  readonly act: () => void;
}

interface KeyedEvent {
  readonly name: string;
  readonly process: string;
  readonly interruption: Interruption;
  state: 'new' | 'waiting' | 'running' | 'over';
  key: HeldKey | undefined;
}

interface Pending {
  readonly name: string;
  readonly process: string;
  readonly dueBy: number;
  readonly reply: () => void;
}

/** Two processes whose events need one key, in a world that does nothing by itself. */
export class KeyWorld {
  broken: string | undefined;
  readonly #record = new StoreRecord();
  readonly #memory = createMemoryStore({ maxEntries: 1 });
  readonly #pending: Pending[] = [];
  readonly #queues = new Map<string, KeyQueue>();
  readonly #idle = new Set<string>();
  readonly #events: readonly KeyedEvent[];
  #aborts = 0;

  constructor() {
    clock.reset(() => 1);
    for (const process of new Set(EVENTS)) {
      clock.process = process;
      const settings = {
        leaseMs: LEASE_MS,
        retries: rulesOfDelays([60_000]),
        onStoreFailure: 'reject',
      } as const;
      const activity = new Activity();
      const store = new TimeLimitedStore(this.#storeOf(process));
      const services = {
        settings: { ...settings, retentionMs: LEASE_MS, maxEventAgeMs: LEASE_MS, now: Date.now },
        store,
        completions: new Completions(store, activity),
        bodyMemory: new BodyMemory(1_000),
      };
      const onIdle = (): void => void this.#idle.add(process);
      this.#queues.set(process, new KeyQueue(ID, 'book', services, activity, onIdle));
    }
    this.#events = EVENTS.map((process, index) => ({
      name: `event ${index + 1} in ${process}`,
      process,
      interruption: new Interruption(),
      state: 'new',
      key: undefined,
    }));
  }

  #storeOf(process: string): Store {
    const ask = <T>(kind: string, perform: () => T): Promise<T> =>
      new Promise((resolve) => {
        const dueBy = clock.now + COMMAND_TIMEOUT_MS;
        this.#pending.push({ name: kind, process, dueBy, reply: () => resolve(perform()) });
      });
    return {
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      claim: (request) => ask('claim', () => this.#record.claim(this.#memory, request)),
      renew: (request) => ask('renewal', () => this.#record.renew(this.#memory, request)),
      complete: (request) => ask('completion', () => this.#record.complete(this.#memory, request)),
      release: (request) => ask('release', () => this.#record.release(this.#memory, request)),
    };
  }

  /** Everything that can happen now. The first action leads to rest. */
  actions(): Action[] {
    return [...this.#answers(), ...this.#ends(), ...this.#arrivals(), ...this.#aborted(), ...this.#time()];
  }

  #answers(): Action[] {
    return this.#pending.map((operation) => ({
      name: `the ${operation.name} of ${operation.process} is answered`,
      act: () => {
        this.#pending.splice(this.#pending.indexOf(operation), 1);
        clock.process = operation.process;
        operation.reply();
      },
    }));
  }

  #ends(): Action[] {
    return this.#events
      .filter(({ state }) => state === 'running')
      .map((event) => ({ name: `${event.name} ends`, act: () => this.#end(event) }));
  }

  #end(event: KeyedEvent): void {
    clock.process = event.process;
    event.state = 'over';
    event.key?.release();
  }

  #arrivals(): Action[] {
    return this.#events
      .filter(({ state }) => state === 'new')
      .slice(0, 1)
      .map((event) => ({ name: `${event.name} arrives`, act: () => void this.#acquire(event) }));
  }

  async #acquire(event: KeyedEvent): Promise<void> {
    clock.process = event.process;
    event.state = 'waiting';
    this.#idle.delete(event.process);
    const run = {
      input: {
        identity: { createdAtMs: 0 },
        receivedAt: 0,
        deadline: { claimWaitMs: () => COMMAND_TIMEOUT_MS },
        origin: { waitsForBusyKeys: true },
      },
      interruption: event.interruption,
      resources: { countBody: () => true },
    };
    const request = new KeyRequest(run, clock.now + WAIT_MS);
    try {
      const key = await this.#queues.get(event.process)?.acquire(request);
      if (key !== undefined) this.#begin(event, key);
    } catch {
      event.state = 'over';
    }
  }

  #begin(event: KeyedEvent, key: HeldKey): void {
    const isAborted = event.interruption.endReason !== undefined;
    if (isAborted || key.lease.state !== 'held' || key.lease.needsConfirmation) {
      event.state = 'over';
      key.release();
      return;
    }
    if (this.#events.some(({ state }) => state === 'running')) this.broken ??= 'two events have the key';
    if (this.#record.leaseEndsAt <= clock.now) this.broken ??= 'an event begins without the key';
    event.state = 'running';
    event.key = key;
  }

  /** An event that waits is aborted, also in the moment in which another one gives the key back. */
  #aborted(): Action[] {
    if (this.#aborts > 0) return [];
    const waiting = this.#events.filter(({ state }) => state === 'waiting');
    const running = this.#events.filter(({ state }) => state === 'running');
    return waiting.flatMap((event) => [
      { name: `${event.name} is aborted`, act: () => this.#abort(event) },
      ...running.map((other) => ({
        name: `${other.name} ends, and some microtasks later ${event.name} is aborted`,
        act: () => {
          this.#end(other);
          void this.#abortSoon(event);
        },
      })),
    ]);
  }

  async #abortSoon(event: KeyedEvent): Promise<void> {
    // The key is granted to the next event, which does not know it yet.
    for (let turn = 0; turn < 20 && event.state === 'waiting' && this.#isWaiting(event); turn += 1)
      await undefined;
    this.#abort(event);
  }

  #isWaiting({ process }: KeyedEvent): boolean {
    const waiting: unknown = Reflect.get(this.#queues.get(process) ?? {}, '$waiting');
    return waiting instanceof WaitingEvents && waiting.first !== undefined;
  }

  #abort(event: KeyedEvent): void {
    this.#aborts += 1;
    clock.process = event.process;
    event.interruption.abort(new AbortedError('run_closed', 'the world has aborted it'));
  }

  #time(): Action[] {
    const limit = Math.min(...this.#pending.map(({ dueBy }) => dueBy));
    return [...this.#queues.keys()].flatMap((process) => {
      const timer = clock.nextTimeoutOf(process);
      const others = [...this.#queues.keys()].map((name) => clock.nextTimeoutOf(name)?.dueAt ?? timer?.dueAt);
      if (timer === undefined || timer.dueAt >= limit) return [];
      if (others.some((dueAt) => (dueAt ?? timer.dueAt) < timer.dueAt)) return [];
      const act = (): void => {
        clock.now = Math.max(clock.now, timer.dueAt);
        clock.process = process;
        clock.fire(timer);
      };
      return [{ name: `a timer of ${process} is due`, act }];
    });
  }

  /** Checked when nothing happens any more. */
  checkAtRest(): void {
    if (this.#events.some(({ state }) => state !== 'over')) this.broken ??= 'an event waits for ever';
    if (this.#record.state === 'processing') this.broken ??= 'the key is left claimed';
    if (this.#idle.size < this.#queues.size) this.broken ??= 'a queue is left';
    if (clock.timers.length > 0) this.broken ??= 'a timer is left';
  }

  async perform({ act }: Action): Promise<void> {
    act();
    await clock.settle();
  }
}
