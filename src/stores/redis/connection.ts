import { randomBytes } from 'node:crypto';
import { performance } from '../../receiver/timing/process-clock.ts';
import { withTimeLimit } from '../../receiver/timing/time-limit.ts';
import { NotConnectedError, Readiness } from '../kit/readiness.ts';
import { ServerClock } from '../kit/server-clock.ts';
import type { ScriptClient } from './clients/script-client.ts';
import { isScriptMissing, lateError } from './errors.ts';
import type { Script } from './script.ts';

/**
 * Numbers the calls of all stores, because stores may share a connection. A store of the other build of
 * posthorn may share it too: its numbers have another prefix. The sign keeps them from looking like JSON.
 */
const callPrefix = `#${randomBytes(6).toString('base64url')}`;
let lastCall = 0;

/** A script, its keys and its own arguments. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

/**
 * Runs scripts on Redis under a time limit. A client queues commands while it reconnects, and may send them
 * again afterwards. So each call carries its time limit by the clock of the server: a script that arrives
 * later does nothing.
 */
export class RedisConnection {
  readonly #client: ScriptClient;
  readonly #readiness: Readiness;
  readonly #limitMs: number;
  readonly #clock: ServerClock;

  constructor(client: ScriptClient, limitMs: number) {
    this.#client = client;
    this.#readiness = Readiness.of(client.connection);
    this.#limitMs = limitMs;
    this.#clock = new ServerClock(limitMs);
  }

  /** True if keys are on several nodes, so that a script can take only one key. */
  get isCluster(): boolean {
    return this.#client.isCluster;
  }

  /** True while scripts can be sent. */
  get isReady(): boolean {
    return this.#readiness.isReady;
  }

  /**
   * Resolves once scripts can be sent, or rejects with {@link NotConnectedError}. Waits for at most `waitMs`,
   * counted from `startedAt`, and only as long as the server would still accept a script.
   */
  ready(startedAt: number, waitMs: number = this.#clock.longestWaitMs): Promise<void> {
    return this.#readiness.wait(Math.min(waitMs, this.#clock.longestWaitMs), startedAt);
  }

  /** Runs a script like {@link run}, once scripts can be sent. */
  runOnceReady(call: ScriptCall): Promise<readonly string[]> {
    const startedAt = performance.now();
    return this.#readiness.send(() => this.run(call, startedAt), this.#clock.longestWaitMs);
  }

  /** Returns true if {@link run} rejected before anything was sent. */
  maySendAgain(error: unknown): boolean {
    return this.#readiness.maySendAgain(error);
  }

  /**
   * Runs a script and resolves with its results. Rejects once the time limit has passed, counted from
   * `startedAt`. If the client is not connected, rejects at once: {@link maySendAgain} is true for the error.
   */
  run(call: ScriptCall, startedAt: number): Promise<readonly string[]> {
    const endsAt = startedAt + this.#limitMs;
    const leftMs = Math.max(0, endsAt - performance.now());
    return withTimeLimit(this.#runOrRepeat(call, endsAt), leftMs, () => lateError(this.#limitMs));
  }

  async #runOrRepeat(call: ScriptCall, endsAt: number): Promise<readonly string[]> {
    const results = await this.#clock.runInTime(endsAt, (lateAfter) => this.#send(call, lateAfter, endsAt));
    if (results === undefined) throw lateError(this.#limitMs);
    return results;
  }

  /** Resolves with the results of one call, or with undefined if the script refused it as late. */
  async #send(call: ScriptCall, lateAfter: number, endsAt: number): Promise<readonly string[] | undefined> {
    lastCall += 1;
    const number = `${callPrefix}.${lastCall}`;
    const values = [String(Math.floor(lateAfter)), number, ...call.values];
    const reply = await this.#evaluate({ ...call, values }, endsAt);
    return this.#readReply(reply, number);
  }

  /**
   * Sends the script by its SHA-1, and in full if the server does not know it (after SCRIPT FLUSH or a
   * failover).
   */
  async #evaluate({ script, keys, values }: ScriptCall, endsAt: number): Promise<unknown> {
    this.#checkReadiness(endsAt);
    try {
      return await this.#client.evaluateBySha1(script.sha1, keys, values);
    } catch (error) {
      if (!isScriptMissing(error)) throw error;
    }
    this.#checkReadiness(endsAt);
    return this.#client.evaluate(script.text, keys, values);
  }

  #checkReadiness(endsAt: number): void {
    if (!this.#readiness.isReady) throw new NotConnectedError(this.#client.connection.absenceMessage);
    if (performance.now() >= endsAt) throw lateError(this.#limitMs);
  }

  /**
   * If one reply is lost on its way, each later reply is taken for the reply to an earlier call: an event
   * would be dropped because another one is completed. Only a new connection repairs that.
   */
  #readReply(reply: unknown, number: string): readonly string[] | undefined {
    const [now, repliedNumber, status, ...results] = Array.isArray(reply) ? reply.map(String) : [];
    if (repliedNumber !== number) {
      if (this.#readiness.isReady) this.#client.reconnect();
      throw new Error('Redis gave the reply to another command');
    }
    this.#clock.set(Number(now));
    return status === 'late' ? undefined : results;
  }
}
