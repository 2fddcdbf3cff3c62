import type { RedisCommands } from '../redis/commands.ts';
import { OPERATIONS } from './redis-scripts.ts';

/** One operation of the store on one id. */
export interface RedisOperation {
  readonly name: 'claim' | 'renew' | 'complete' | 'release';
  readonly key: string;
  readonly token: string;
  readonly leaseMs: number;
  readonly expiryMs: number;
  readonly detail: string;
}

interface Waiting {
  readonly operation: RedisOperation;
  readonly startedAt: number;
  readonly resolve: (told: string) => void;
  readonly reject: (error: unknown) => void;
}

/** A script holds up every other client of the server while it runs. */
const MOST_IN_ONE = 64;

/**
 * Sends the operations that begin in one turn of the event loop as one command: a command costs this process and Redis
 * far more than an operation does, and whether the user's client pipelines no longer matters. In a Cluster each is a command
 * of its own, because their keys lie on different nodes.
 */
export class RedisOperations {
  readonly #commands: RedisCommands;
  #waiting: Waiting[] = [];

  constructor(commands: RedisCommands) {
    this.#commands = commands;
  }

  /** Resolves with what Redis tells of the operation. */
  run(operation: RedisOperation): Promise<string> {
    return new Promise((resolve, reject) => {
      const waiting = { operation, startedAt: performance.now(), resolve, reject };
      if (this.#commands.isCluster) void this.#send([waiting]);
      else if (this.#waiting.push(waiting) === 1) setImmediate(() => this.#sendWaiting());
    });
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let index = 0; index < waiting.length; index += MOST_IN_ONE) {
      void this.#send(waiting.slice(index, index + MOST_IN_ONE));
    }
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const [oldest] = batch;
    const keys = batch.map(({ operation }) => operation.key);
    try {
      const told = await this.#commands.run(OPERATIONS, keys, argumentsOf(batch), oldest?.startedAt);
      batch.forEach(({ resolve }, index) => {
        resolve(told[index] ?? '');
      });
    } catch (error) {
      // One that Redis refuses, for example for a value that is not ours, must not take the others with it.
      if (batch.length > 1 && isRefusal(error)) for (const one of batch) void this.#send([one]);
      else for (const { reject } of batch) reject(error);
    }
  }
}

function argumentsOf(batch: readonly Waiting[]): string[] {
  const values: string[] = [];
  for (const { operation } of batch) {
    const { name, token, leaseMs, expiryMs, detail } = operation;
    values.push(name, token, String(leaseMs), String(expiryMs), detail);
  }
  return values;
}

/** ioredis names the errors that the server has answered with. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
