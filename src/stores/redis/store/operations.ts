import { inNextTurn } from '../../../receiver/timing/next-turn.ts';
import { setTimeout } from '../../../receiver/timing/process-clock.ts';
import { wholeMs } from '../../kit/durations.ts';
import { PendingOperation } from '../../kit/pending-operations.ts';
import { UNSENT_PAUSE_MS } from '../../kit/readiness.ts';
import { type ServerAnswer, type ServerOperation, termsOf } from '../../kit/server-store.ts';
import type { RedisConnection } from '../connection.ts';
import { isAboutOneKey } from '../errors.ts';
import { OPERATIONS } from './scripts.ts';

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
 * its own, because their keys are on different nodes.
 */
export class RedisOperations {
  readonly #connection: RedisConnection;
  readonly #scope: string;
  #batch: PendingOperation[] = [];

  constructor(connection: RedisConnection, scope: string) {
    this.#connection = connection;
    this.#scope = scope;
  }

  /** Resolves with the answer to an operation. */
  run(operation: ServerOperation): Promise<ServerAnswer> {
    const pending = new PendingOperation(operation);
    if (this.#connection.isReady) this.#begin(pending);
    else void this.#beginOnceReady(pending);
    return pending.answer;
  }

  /** Each operation waits by itself: one that may not wait fails at once, and no other one fails with it. */
  async #beginOnceReady(pending: PendingOperation): Promise<void> {
    try {
      await this.#connection.ready(pending.waitingSince, pending.operation.waitMs);
      this.#begin(pending);
    } catch (error) {
      pending.fail(error);
    }
  }

  /**
   * Begins operations again that were not sent. It pauses first, because the client notices a little later
   * that its connection has ended.
   */
  #beginAgain(batch: readonly PendingOperation[], error: unknown): void {
    const mayWait = batch.filter(({ operation }) => operation.waitMs !== 0);
    for (const pending of batch) if (!mayWait.includes(pending)) pending.fail(error);
    setTimeout(() => {
      for (const pending of mayWait) void this.#beginOnceReady(pending);
    }, UNSENT_PAUSE_MS);
  }

  #begin(pending: PendingOperation): void {
    if (this.#connection.isCluster) void this.#send([pending]);
    else this.#enqueue(pending);
  }

  #enqueue(pending: PendingOperation): void {
    const [first = pending] = this.#batch;
    if (Math.abs(pending.waitingSince - first.waitingSince) > MAX_BATCH_SPREAD_MS)
      this.#sendBatch(this.#batch);
    const batch = this.#batch;
    const count = batch.push(pending);
    if (count === 1) inNextTurn(() => this.#sendBatch(batch));
    if (count === MAX_BATCH_SIZE) this.#sendBatch(batch);
  }

  #sendBatch(batch: readonly PendingOperation[]): void {
    if (this.#batch !== batch) return;
    this.#batch = [];
    void this.#send(batch);
  }

  async #send(batch: readonly PendingOperation[]): Promise<void> {
    const startedAt = Math.min(...batch.map((pending) => pending.waitingSince));
    const keys = batch.map(({ operation }) => `${this.#scope}:${operation.key}`);
    const values: string[] = [];
    for (const { operation } of batch) values.push(...argumentsOf(operation));
    try {
      const results = await this.#connection.run({ script: OPERATIONS, keys, values }, startedAt);
      batch.forEach((pending, index) => {
        pending.settle(results[index] ?? '');
      });
    } catch (error) {
      if (this.#connection.maySendAgain(error)) this.#beginAgain(batch, error);
      // Redis refuses the whole command if one key holds a foreign value. The others must not fail with it.
      else if (batch.length > 1 && isAboutOneKey(error))
        for (const pending of batch) void this.#send([pending]);
      else for (const pending of batch) pending.fail(error);
    }
  }
}

function argumentsOf(operation: ServerOperation): string[] {
  const { ms, detail } = termsOf(operation);
  return [operation.name, operation.token, String(wholeMs(ms)), expiryMs(operation.keepMs), detail];
}

/** Redis accepts only whole milliseconds above 0. */
function expiryMs(ms: number): string {
  return String(Math.max(1, wholeMs(ms)));
}
