import { storeError } from '../dedupe/time-limited.ts';
import { propertyOf } from '../errors.ts';
import { setImmediate } from '../timing/turn.ts';
import type { RedisCommands } from './commands.ts';
import { OPERATIONS } from './store-scripts.ts';

/** One operation of the store on one id. */
export interface RedisOperation {
  readonly name: 'claim' | 'renew' | 'complete' | 'release';
  readonly key: string;
  readonly token: string;
  readonly leaseMs: number;
  readonly expiryMs: number;
  readonly detail: string;
}

/** Waits for Redis's word on an operation. */
class Waiting<Result> {
  readonly operation: RedisOperation;
  readonly startedAt: number = performance.now();
  readonly #read: (told: string) => Result;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: Error) => void;

  constructor(
    operation: RedisOperation,
    read: (told: string) => Result,
    resolve: (result: Result) => void,
    reject: (error: Error) => void,
  ) {
    this.operation = operation;
    this.#read = read;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  settle(told: string): void {
    try {
      this.#resolve(this.#read(told));
    } catch (cause) {
      this.fail(cause);
    }
  }

  fail(cause: unknown): void {
    this.#reject(storeError(this.operation.name, cause));
  }
}

type AnyWaiting = Pick<Waiting<unknown>, 'operation' | 'startedAt' | 'settle' | 'fail'>;

/**
 * As many go at once: a script holds up every other client of the server while it runs, and Redis works on the first ones while
 * this process is busy with the next.
 */
const MOST_IN_ONE = 16;

/**
 * Sends the operations that begin in one turn of the event loop together, as one command or a few: a command costs this process and Redis
 * far more than an operation does, and whether the user's client pipelines no longer matters. In a Cluster each is a command
 * of its own, because their keys lie on different nodes.
 */
export class RedisOperations {
  readonly #commands: RedisCommands;
  #batch: AnyWaiting[] = [];

  constructor(commands: RedisCommands) {
    this.#commands = commands;
  }

  /** Resolves with what `read` makes of Redis's word on the operation; rejects with UnavailableError. */
  run<Result>(operation: RedisOperation, read: (told: string) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = new Waiting(operation, read, resolve, reject);
      if (this.#commands.isCluster) void this.#send([waiting]);
      else this.#gather(waiting);
    });
  }

  #gather(waiting: AnyWaiting): void {
    const batch = this.#batch;
    const count = batch.push(waiting);
    if (count === 1) setImmediate(() => this.#sendBatch(batch));
    if (count === MOST_IN_ONE) this.#sendBatch(batch);
  }

  #sendBatch(batch: readonly AnyWaiting[]): void {
    if (this.#batch !== batch) return;
    this.#batch = [];
    void this.#send(batch);
  }

  async #send(batch: readonly AnyWaiting[]): Promise<void> {
    const [oldest] = batch;
    const keys = batch.map(({ operation }) => operation.key);
    try {
      const told = await this.#commands.run(OPERATIONS, keys, argumentsOf(batch), oldest?.startedAt);
      batch.forEach((waiting, index) => {
        waiting.settle(told[index] ?? '');
      });
    } catch (error) {
      // One that Redis refuses, for example for a value that is not ours, must not take the others with it.
      if (batch.length > 1 && isRefusal(error)) for (const one of batch) void this.#send([one]);
      else for (const waiting of batch) waiting.fail(error);
    }
  }
}

function argumentsOf(batch: readonly AnyWaiting[]): string[] {
  const values: string[] = [];
  for (const { operation } of batch) {
    const { name, token, leaseMs, expiryMs, detail } = operation;
    values.push(name, token, String(leaseMs), String(expiryMs), detail);
  }
  return values;
}

/** ioredis names the errors that the server has answered with. */
function isRefusal(error: unknown): boolean {
  return propertyOf(error, 'name') === 'ReplyError';
}
