import { createReceiver } from '../../src/create-receiver.ts';
import type { DeadLetters } from '../../src/receiver/dead-letters/dead-letters.ts';
import { isHold } from '../../src/receiver/dedupe/claim-token.ts';
import type { CompleteRequest, Store } from '../../src/receiver/dedupe/store.ts';
import type { HandlerContext } from '../../src/receiver/handling/handlers/route.ts';
import type { Receiver } from '../../src/receiver-interface.ts';
import type { StoreOperation } from '../stores/kit/store-operations.ts';
import { clock } from './clock.ts';
import { HANDLER, KEY } from './event.ts';
import { receiverText } from './fingerprint.ts';
import { isOfLetter, type Operation, send } from './operations.ts';
import { type ProcessName, times } from './scope.ts';
import type { StoreRecord } from './store-record.ts';
import type { World } from './world.ts';

/** All that a receiver holds before its first delivery. */
let newReceiver: string | undefined;

/** One of several processes with a receiver each. */
export class SimulatedProcess {
  readonly name: ProcessName;
  readonly receiver: Receiver;
  state: 'running' | 'frozen' | 'dead' = 'running';
  /** When it was last frozen. */
  frozenAt = 0;
  /** The operations that it has sent, and whose answers it waits for. */
  readonly pending: Operation[] = [];
  /** Whether the store has answered a release that the event is completed. */
  isTold = false;
  /** The tokens whose completions were answered. */
  readonly #completed = new Set<string>();
  readonly #world: World;

  constructor(name: ProcessName, world: World) {
    this.name = name;
    this.#world = world;
    clock.process = name;
    this.receiver = createReceiver({
      signingKey: KEY,
      store: this.#store(),
      deadLetters: this.#deadLetters(),
      leaseMs: times.leaseMs,
      deadlineMs: times.deadlineMs,
      retryScheduleMs: [times.retryDelayMs],
      maxRunMs: times.maxRunMs,
      // Without an age limit, the retention of an id does not depend on the time.
      maxEventAgeMs: Number.POSITIVE_INFINITY,
    });
    this.receiver.on('*', (_event, context) => this.#handle(context), { name: HANDLER });
    this.receiver.observe(() => {});
    newReceiver ??= receiverText(this.receiver);
  }

  /** Lets the process go on. */
  run(callback: () => void): void {
    clock.process = this.name;
    callback();
  }

  /** Whether its receiver holds no more than a new one. */
  get hasGivenAllBack(): boolean {
    return receiverText(this.receiver) === newReceiver;
  }

  /** Ends an operation, and lets the process go on. */
  end(operation: Operation, callback: () => void): void {
    this.pending.splice(this.pending.indexOf(operation), 1);
    if (isOfLetter(operation.kind))
      for (const timer of clock.timers) if (timer.process === this.name) timer.hasSeenLetter = true;
    this.run(callback);
    if (operation.kind === 'complete' && operation.token !== undefined) this.#completed.add(operation.token);
    const isOfRun = operation.kind === 'release' && !isHold(operation.token ?? '');
    this.isTold ||= isOfRun && isCompleted(operation.answer);
    this.#world.lastEnded = operation;
  }

  /** Nothing runs in the process from now on, but what it has sent goes on. */
  freeze(): void {
    this.state = 'frozen';
    this.frozenAt = clock.now;
    // A letter whose writing takes longer than it may counts as failed.
    if (this.pending.some(({ kind }) => isOfLetter(kind))) this.#world.faults.add('letter');
  }

  /**
   * Node.js calls the timers that are due, and then reads what has arrived. An interval does not make up for
   * what it has missed.
   */
  thaw(): void {
    this.state = 'running';
    const own = clock.timers.filter(({ process }) => process === this.name);
    const due = own.filter(({ dueAt, intervalMs }) => intervalMs === undefined && dueAt <= clock.now);
    for (const interval of own) interval.postpone(clock.now - this.frozenAt);
    clock.process = this.name;
    for (const timer of due.sort((a, b) => a.dueAt - b.dueAt)) clock.fire(timer);
    for (const operation of [...this.pending])
      if (operation.kind !== 'handlers' && !operation.isLost) this.end(operation, operation.reply);
  }

  #store(): Store {
    const { memory, promises } = this.#world;
    const recordOf = (id: string): StoreRecord => this.#world.recordOf(id);
    return {
      commandTimeoutMs: times.commandTimeoutMs,
      claim: (request) =>
        this.#ask('claim', request, () =>
          promises.noteClaim(request, recordOf(request.id).claim(memory, request)),
        ),
      renew: (request) => {
        promises.noteRenewal(request.token);
        return this.#ask('renew', request, () =>
          promises.noteClaim(request, recordOf(request.id).renew(memory, request)),
        );
      },
      complete: (request) => {
        const { now: sentAt } = clock;
        if (this.#completed.has(request.token))
          promises.break('no completion is sent again once it is answered');
        return this.#ask('complete', request, () => {
          promises.noteCompletion(request, sentAt);
          return recordOf(request.id).complete(memory, request);
        });
      },
      release: (request) =>
        this.#ask('release', request, () => {
          promises.claims.noteRelease(request.token);
          return recordOf(request.id).release(memory, request);
        }),
      peek: (request) =>
        send(this.pending, 'peek', undefined, request, () => recordOf(request.id).peek(memory, request)),
      refusesLateClaims: true,
    };
  }

  /** The token of a drop's or a replay's completion is not that of a claim. */
  #ask<T>(kind: StoreOperation, request: CompleteRequest, perform: () => T): Promise<T> {
    const { id, token } = request;
    const { promises, tokens } = this.#world;
    if (kind !== 'complete' && !tokens.has(token)) {
      tokens.set(token, this.name);
      promises.claims.noteToken(id, token);
    }
    return send(this.pending, kind, token, request, perform);
  }

  #deadLetters(): DeadLetters {
    const { letters, promises } = this.#world;
    const { name, pending } = this;
    return {
      get: (id) => send(pending, 'get', undefined, id, () => letters.get(id)),
      put: (letter) =>
        send(pending, 'put', undefined, letter, () => {
          promises.notePut(name, letter);
          letters.set(letter.id, letter);
        }),
      remove: (id) =>
        send(pending, 'remove', undefined, id, () => {
          promises.noteRemoval(name);
          return letters.delete(id);
        }),
      list: async function* () {
        yield* letters.values();
      },
    };
  }

  #handle(context: HandlerContext): Promise<void> {
    const { promises } = this.#world;
    const [token, ...others] = promises.noteBegin(this.name, context);
    const succeed = (): void => {
      if (context.rerun === undefined) promises.isHandled = true;
    };
    return send(this.pending, 'handlers', token, context.final, succeed, others);
  }
}

function isCompleted(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'state' in answer && answer.state === 'completed';
}
