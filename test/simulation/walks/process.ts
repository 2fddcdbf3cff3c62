import { createReceiver } from '../../../src/create-receiver.ts';
import { createBullQueue } from '../../../src/queues/bullmq/queue.ts';
import { type BullWorker, createBullWorker } from '../../../src/queues/bullmq/worker.ts';
import type { HandlerContext } from '../../../src/receiver/handling/handlers/route.ts';
import { letterTimeMs } from '../../../src/receiver/timing/deadline.ts';
import type { Receiver, ReceiverOptions } from '../../../src/receiver-interface.ts';
import { clock } from '../clock.ts';
import { KEY } from '../event.ts';
import { noteAnswer, noteClosed } from './answer-promises.ts';
import type { SimulatedWorker } from './bullmq.ts';
import { noteBegin } from './handler-promises.ts';
import { type OperationKind, PendingOperation } from './pending-operation.ts';
import { deadLettersOf, schemaOf, storeOf } from './process-services.ts';
import type { SentDelivery, SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

const SCOPE = 'walk';
const WORKER_CONCURRENCY = 2;

/**
 * Operations on one letter wait for each other within the time of one. As many of them fit into it, so that
 * none is late without a fault.
 */
const LETTER_PARTS = 10;

/** A process with a receiver, and with a worker if there is a queue. */
export class WalkProcess {
  readonly name: string;
  readonly world: WalkWorld;
  readonly receiver: Receiver;
  readonly worker: BullWorker | undefined;
  /** The function that BullMQ runs for the worker. */
  readonly bullWorkers: SimulatedWorker[] = [];
  state: 'running' | 'frozen' | 'dead' = 'running';
  /** The operations that it has sent, and whose answers it waits for. */
  readonly pending: PendingOperation[] = [];
  /** Deliveries that came while it stood still. */
  readonly inbox: { readonly event: SimulatedEvent; readonly delivery: SentDelivery }[] = [];
  /** Replays, drops, accepts and reruns that it has not ended, and why it is closed. */
  readonly tasks: Set<string> = new Set();
  /** The names of handlers in each letter, as it has read them last. */
  readonly namesRead: Map<string, readonly string[]> = new Map();
  /** It has replayed a letter. */
  hasReplayed = false;
  /** True if the process has accepted an event that its application had fetched. */
  hasAccepted = false;
  /** True if the process has rerun a handler. */
  hasRerun = false;
  closingSince: number | undefined;
  isClosed = false;
  wallShiftMs = 0;
  /** When it stood still last, up to the end of that. */
  stoodStillAt = Number.NEGATIVE_INFINITY;
  /** Events that it has had to do with. */
  readonly events: Set<SimulatedEvent> = new Set();
  /** Ids in the store whose completion it has sent. */
  readonly completed: Set<string> = new Set();
  readonly #numbers = new Map<string, number>();

  constructor(name: string, world: WalkWorld) {
    this.name = name;
    this.world = world;
    this.#enter();
    const { configuration } = world;
    const { hasQueue } = world;
    const connection = { process: this, duplicate: () => connection };
    const queue = hasQueue ? createBullQueue({ connection, scope: SCOPE, maxMemoryShare: 1 }) : undefined;
    this.receiver = createReceiver({ ...this.#options(), ...(queue !== undefined && { queue }) });
    for (const [index, { name: handlerName, isQueued, keyedBy }] of configuration.handlers.entries()) {
      this.receiver.on('*', ({ id }, context) => this.#handle(index, id, context), {
        ...(handlerName !== undefined && { name: handlerName }),
        ...(isQueued && { queue: true }),
        ...(keyedBy !== undefined && { concurrencyKey: ({ id }) => world.eventOf(id)?.keys[keyedBy] }),
      });
    }
    this.receiver.observe(() => {});
    this.worker = hasQueue
      ? createBullWorker(this.receiver, { connection, scope: SCOPE, concurrency: WORKER_CONCURRENCY })
      : undefined;
  }

  #options(): ReceiverOptions {
    const { times, hasDeadLetters, hasSchema, hasSmallMemory, maxRunning, onStoreFailure } =
      this.world.configuration;
    const { leaseMs, deadlineMs, retryScheduleMs, maxRunMs } = times;
    return {
      signingKey: KEY,
      store: storeOf(this),
      ...(hasDeadLetters && { deadLetters: deadLettersOf(this) }),
      ...(hasSchema && { schemas: { transfer: schemaOf(this) } }),
      ...(maxRunning !== undefined && { maxRunning }),
      // Room for one body and a half.
      ...(hasSmallMemory && { maxBodyBytes: 150, maxBufferedBytes: 200 }),
      ...{ leaseMs, deadlineMs, retryScheduleMs, maxRunMs, onStoreFailure },
    };
  }

  #enter(): void {
    clock.process = this.name;
    clock.wallShiftMs = this.wallShiftMs;
  }

  /** Lets the process go on. */
  run(callback: () => void): void {
    this.#enter();
    callback();
  }

  /** Sends an operation of this process. */
  send<T>(
    kind: OperationKind,
    about: string,
    event: SimulatedEvent | undefined,
    perform: () => T,
    token?: string,
  ): Promise<T> {
    const subject = `${about}${event === undefined ? '' : ` of ${event.id}`}`;
    const number = (this.#numbers.get(subject) ?? 0) + 1;
    this.#numbers.set(subject, number);
    if (event !== undefined) this.events.add(event);
    const limitMs = this.#limitOf(kind);
    const name = `${this.name}'s ${subject}${number > 1 ? ` (${number})` : ''}`;
    const mayComeLate = kind === 'claim' && this.world.configuration.store !== 'timed';
    const sent = { kind, name, event, token, limitMs, mayComeLate, perform };
    const { operation, answer } = PendingOperation.send(sent);
    this.pending.push(operation);
    return answer;
  }

  #limitOf(kind: OperationKind): number {
    const { commandTimeoutMs, deadlineMs } = this.world.configuration.times;
    if (kind === 'handler') return Number.POSITIVE_INFINITY;
    if (kind === 'schema' || kind === 'command') return commandTimeoutMs;
    if (kind === 'get' || kind === 'put' || kind === 'remove') return letterTimeMs(deadlineMs) / LETTER_PARTS;
    return commandTimeoutMs;
  }

  #handle(handler: number, id: string, context: HandlerContext): Promise<void> {
    const event = this.world.eventOf(id);
    if (event === undefined) throw new Error(`the world has no event ${id}`);
    const run = noteBegin(this.world, this, event, handler, context);
    const name = this.world.configuration.handlers[handler]?.name ?? 'unnamed';
    return this.send('handler', `handler "${name}"`, event, () => {
      run.state = 'succeeded';
      event.succeeded.add(handler);
    }).catch((error: unknown) => {
      run.state = 'failed';
      throw error;
    });
  }

  /** Takes a delivery, now or when it goes on. */
  deliver(event: SimulatedEvent, delivery: SentDelivery): void {
    if (this.state === 'frozen') this.inbox.push({ event, delivery });
    else if (this.state === 'running') this.run(() => this.#receive(event, delivery));
  }

  #receive(event: SimulatedEvent, delivery: SentDelivery): void {
    this.events.add(event);
    if (this.closingSince !== undefined) event.faults.add('close');
    delivery.receivedAt = clock.now;
    const { retryScheduleMs } = this.world.configuration.times;
    const ageMs = clock.wallTime - this.world.wallTimeOf(event);
    delivery.isLastByAge = ageMs >= 0.9 * (retryScheduleMs.at(-1) ?? 0);
    void this.receiver
      .receive({
        method: 'POST',
        headers: event.headers,
        readBody: () => event.body,
        isConnected: () => !delivery.isGivenUp,
      })
      .then(({ status, body }) => noteAnswer(this.world, event, delivery, status, String(body)));
  }

  /** Goes on after a standstill: timers are called before answers are read, as Node.js does. */
  thaw(): void {
    this.state = 'running';
    this.stoodStillAt = clock.now;
    this.#enter();
    const due = clock.timers
      .filter(({ process, dueAt }) => process === this.name && dueAt <= clock.now)
      .toSorted((a, b) => a.dueAt - b.dueAt);
    for (const timer of due) {
      if (!clock.timers.includes(timer)) continue;
      if (timer.intervalMs === undefined) clock.clear(timer);
      else timer.dueAt = clock.now + timer.intervalMs;
      timer.callback();
    }
    for (const operation of [...this.pending]) {
      if (operation.fate !== 'on time' || !operation.hasArrived) continue;
      this.forget(operation);
      operation.reply();
    }
    for (const { event, delivery } of this.inbox.splice(0)) this.#receive(event, delivery);
  }

  /** The process does not wait for an operation any more. */
  forget(operation: PendingOperation): void {
    const index = this.pending.indexOf(operation);
    if (index >= 0) this.pending.splice(index, 1);
  }

  /** Ends at once. What it has sent may still arrive. */
  die(): void {
    this.state = 'dead';
    clock.timers = clock.timers.filter(({ process }) => process !== this.name);
    this.inbox.length = 0;
    this.tasks.clear();
    const { orphans } = this.world;
    for (const operation of this.pending.splice(0))
      if (operation.performer !== 'application' && !operation.hasArrived) orphans.push(operation);
    for (const event of this.events)
      for (const run of event.running) if (run.process === this) run.state = 'failed';
  }

  /** Stops as a deploy does, and ends when both have closed. */
  close(graceMs: number): void {
    this.closingSince = clock.now;
    for (const event of this.events) event.faults.add('close');
    const closing = Promise.all([this.receiver.close({ graceMs }), this.worker?.close({ graceMs })]);
    void closing.then(() => {
      this.isClosed = true;
      noteClosed(this.world, this, graceMs);
    });
  }
}
