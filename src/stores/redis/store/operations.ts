import { storeError } from '../../../receiver/dedupe/time-limited.ts';
import { inNextTurn } from '../../../receiver/timing/next-turn.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import type { ServerOperation } from '../../kit/server-store.ts';
import type { RedisCommands } from '../connection.ts';
import { UNSENT_PAUSE_MS } from '../readiness.ts';
import { OPERATIONS } from './scripts.ts';

/** An operation, and the promise of its result. */
class PendingOperation<Result> {
  readonly operation: ServerOperation;
  readonly startedAt: number = performance.now();
  readonly #read: (result: string) => Result;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: Error) => void;

  constructor(
    operation: ServerOperation,
    read: (result: string) => Result,
    resolve: (result: Result) => void,
    reject: (error: Error) => void,
  ) {
    this.operation = operation;
    this.#read = read;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  settle(result: string): void {
    try {
      this.#resolve(this.#read(result));
    } catch (cause) {
      this.fail(cause);
    }
  }

  fail(cause: unknown): void {
    this.#reject(storeError(this.operation.name, cause));
  }
}

type AnyPending = Pick<PendingOperation<unknown>, 'operation' | 'startedAt' | 'settle' | 'fail'>;

/**
 * The most operations in one command. A script blocks every other client of the server while it runs.
 * Besides, this process prepares the next command while Redis works on the first.
 */
const MAX_BATCH_SIZE = 16;

/**
 * The longest time between the starts of operations in one command. The time limit of the command is that of
 * its oldest operation, which may have waited for the connection: the others would be given up early with it.
 */
const MAX_BATCH_SPREAD_MS = 20;

/**
 * Sends the operations that begin in one turn of the event loop together, as one command or a few: a command
 * costs this process and Redis far more than an operation does. In a Cluster each operation is a command of
 * its own, because their keys lie on different nodes.
 */
export class RedisOperations {
  readonly #commands: RedisCommands;
  readonly #scope: string;
  #batch: AnyPending[] = [];

  constructor(commands: RedisCommands, scope: string) {
    this.#commands = commands;
    this.#scope = scope;
  }

  /** Resolves with the result of an operation, parsed by `read`; rejects with UnavailableError. */
  run<Result>(operation: ServerOperation, read: (result: string) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const pending = new PendingOperation(operation, read, resolve, reject);
      if (this.#commands.isReady) this.#begin(pending);
      else void this.#beginOnceReady(pending);
    });
  }

  /** Each operation waits by itself: one that may not wait fails at once, and no other one fails with it. */
  async #beginOnceReady(pending: AnyPending): Promise<void> {
    try {
      await this.#commands.ready(pending.startedAt, pending.operation.waitMs);
      this.#begin(pending);
    } catch (error) {
      pending.fail(error);
    }
  }

  /**
   * Begins operations again that were not sent. It pauses first, because the client notices a little later
   * that its connection has ended.
   */
  #beginAgain(batch: readonly AnyPending[], error: unknown): void {
    const mayWait = batch.filter(({ operation }) => operation.waitMs !== 0);
    for (const pending of batch) if (!mayWait.includes(pending)) pending.fail(error);
    setTimeout(() => {
      for (const pending of mayWait) void this.#beginOnceReady(pending);
    }, UNSENT_PAUSE_MS);
  }

  #begin(pending: AnyPending): void {
    if (this.#commands.isCluster) void this.#send([pending]);
    else this.#enqueue(pending);
  }

  #enqueue(pending: AnyPending): void {
    const [first = pending] = this.#batch;
    if (Math.abs(pending.startedAt - first.startedAt) > MAX_BATCH_SPREAD_MS) this.#sendBatch(this.#batch);
    const batch = this.#batch;
    const count = batch.push(pending);
    if (count === 1) inNextTurn(() => this.#sendBatch(batch));
    if (count === MAX_BATCH_SIZE) this.#sendBatch(batch);
  }

  #sendBatch(batch: readonly AnyPending[]): void {
    if (this.#batch !== batch) return;
    this.#batch = [];
    void this.#send(batch);
  }

  async #send(batch: readonly AnyPending[]): Promise<void> {
    const startedAt = Math.min(...batch.map((pending) => pending.startedAt));
    const keys = batch.map(({ operation }) => `${this.#scope}:${operation.key}`);
    try {
      const results = await this.#commands.run(OPERATIONS, keys, argumentsOf(batch), startedAt);
      batch.forEach((pending, index) => {
        pending.settle(results[index] ?? '');
      });
    } catch (error) {
      if (this.#commands.isUnsent(error)) this.#beginAgain(batch, error);
      // Redis refuses the whole command if one key holds a foreign value. The others must not fail with it.
      else if (batch.length > 1 && isRefusal(error)) for (const pending of batch) void this.#send([pending]);
      else for (const pending of batch) pending.fail(error);
    }
  }
}

function argumentsOf(batch: readonly AnyPending[]): string[] {
  const values: string[] = [];
  for (const { operation } of batch) {
    const { name, token, leaseMs, keepMs, detail } = operation;
    values.push(name, token, wholeMs(leaseMs), wholeMs(keepMs), detail);
  }
  return values;
}

/** Redis accepts only whole milliseconds above 0. */
function wholeMs(ms: number): string {
  return String(Math.max(1, Math.ceil(ms)));
}

/** Returns true if the script failed at one of its keys. Other errors are about the whole server. */
function isRefusal(error: unknown): boolean {
  return /^(WRONGTYPE |ERR .*script)/.test(messageOf(error));
}
