import { createHash } from 'node:crypto';
import { messageOf } from '../errors.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import type { RedisClient } from './client.ts';

/** A Lua script that returns what `reply` makes: the server's time in milliseconds, the call's number, what it tells. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/**
 * Makes a script. Its `body` finds the server's time as `now`, its arguments from `ARGV[3]` on, and returns `reply(…)`.
 * Unless `mayBeLate`, it does nothing after the time of the server in `ARGV[1]`: its caller has given up by then. One that
 * may be late finds that out by `isLate`, and returns `refuse()` where it has left something undone.
 */
export function createScript(
  body: string,
  { mayBeLate }: { mayBeLate: boolean } = { mayBeLate: false },
): Script {
  const text = [
    "local time = redis.call('TIME')",
    'local now = time[1] * 1000 + math.floor(time[2] / 1000)',
    'local isLate = now > tonumber(ARGV[1])',
    "local function refuse() return { now, ARGV[2], 'late' } end",
    "local function reply(...) return { now, ARGV[2], 'told', ... } end",
    mayBeLate ? '' : 'if isLate then return refuse() end',
    body.trim(),
  ].join('\n');
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Clocks run at slightly different speeds, so the last part of a time limit is left unused by the server. */
const DRIFT_ALLOWANCE = 0.02;

/** Counts the calls of all stores, because they may share a connection. */
let lastCall = 0;

/**
 * Sends commands to Redis under a time limit of its own: ioredis queues them while it reconnects, and may send them again
 * afterwards. What is sent carries the time at which it is given up, by the clock of the server, so that it does nothing
 * when it arrives later than that, whatever was sent since.
 */
export class RedisCommands {
  readonly #redis: RedisClient;
  readonly #limitMs: number;
  /**
   * Server's time less the monotonic clock here, from the last reply. A reply takes time to arrive, so this is too small
   * rather than too large, and a script gives up before its caller does; in a Cluster as far as the clocks of its nodes
   * agree. Until the first reply the clock here is taken to agree with the server's.
   */
  #clockOffsetMs: number = Date.now() - performance.now();

  /**
   * A client with `enableAutoPipelining` would let a command wait until the reply to the last one has come, and keeps each of its
   * pipelines until all memory is looked through: even in a Cluster, where it gathers commands, that costs more than it saves.
   */
  readonly #direct: Pick<RedisClient, 'eval' | 'evalsha'> | undefined;

  constructor(redis: RedisClient, limitMs: number) {
    this.#redis = redis;
    this.#direct = pipelinesByItself(redis) ? passingBy(redis) : undefined;
    this.#limitMs = limitMs;
  }

  /** Whether keys lie on several nodes, so that a script can have but one. */
  get isCluster(): boolean {
    return this.#redis.isCluster === true;
  }

  /**
   * Runs a script and resolves with what it tells. Rejects when the time that has run since `startedAt` is over, or at once
   * without a connection.
   */
  run(
    script: Script,
    keys: readonly string[],
    values: readonly string[],
    startedAt: number = performance.now(),
  ): Promise<readonly string[]> {
    const endsAt = startedAt + this.#limitMs;
    return this.#limited(endsAt, async () => {
      const evaluate = () => this.#evaluate(script, keys, values, endsAt);
      // Late by the clock of a server that has jumped or taken over; the refusal has brought its time.
      const told = (await evaluate()) ?? (await evaluate());
      if (told === undefined) throw lateError(this.#limitMs);
      return told;
    });
  }

  #limited<T>(endsAt: number, send: () => Promise<T>): Promise<T> {
    const leftMs = Math.max(0, endsAt - performance.now());
    return withTimeLimit(send(), leftMs, () => lateError(this.#limitMs));
  }

  /** What the script tells, or undefined where it was late. */
  async #evaluate(
    { sha1, text }: Script,
    keys: readonly string[],
    values: readonly string[],
    endsAt: number,
  ): Promise<readonly string[] | undefined> {
    const notAfter = Math.floor(endsAt + this.#clockOffsetMs - this.#limitMs * DRIFT_ALLOWANCE);
    lastCall += 1;
    const call = String(lastCall);
    const rest = [...keys, String(notAfter), call, ...values];
    this.#checkReadiness(endsAt);
    let reply: unknown;
    try {
      reply = await this.#send('evalsha', sha1, keys.length, rest);
    } catch (error) {
      if (!isScriptMissing(error)) throw error;
      this.#checkReadiness(endsAt);
      reply = await this.#send('eval', text, keys.length, rest);
    }
    return this.#read(reply, call);
  }

  #send(
    name: 'eval' | 'evalsha',
    script: string,
    keyCount: number,
    rest: readonly string[],
  ): Promise<unknown> {
    const direct = this.#direct?.[name];
    if (direct === undefined) return this.#redis[name](script, keyCount, ...rest);
    return direct.call(this.#redis, script, keyCount, ...rest);
  }

  /**
   * Where something on the way has lost a reply, every later one is taken for that of an earlier command: an event would be
   * dropped because another one is completed. Only a new connection mends that.
   */
  #read(reply: unknown, call: string): readonly string[] | undefined {
    const [now, answered, state, ...told] = Array.isArray(reply) ? reply.map(String) : [];
    if (answered !== call) {
      if (this.#redis.status === 'ready') this.#redis.disconnect(true);
      throw new Error('Redis gave the reply to another command; connecting anew');
    }
    this.#clockOffsetMs = Number(now) - performance.now();
    return state === 'late' ? undefined : told;
  }

  #checkReadiness(endsAt: number): void {
    const { status } = this.#redis;
    if (status !== 'ready') throw new Error(`the Redis client is not connected (its status is "${status}")`);
    if (performance.now() >= endsAt) throw lateError(this.#limitMs);
  }
}

function pipelinesByItself({ options }: RedisClient): boolean {
  return options !== undefined && Reflect.get(options, 'enableAutoPipelining') === true;
}

/** ioredis pipelines none of the commands that are made so. */
function passingBy(redis: RedisClient): Pick<RedisClient, 'eval' | 'evalsha'> | undefined {
  const [evaluate, evaluateSha] = ['eval', 'evalsha'].map(
    (name) => redis.createBuiltinCommand?.(name).string,
  );
  return evaluate && evaluateSha && { eval: evaluate, evalsha: evaluateSha };
}

function isScriptMissing(error: unknown): boolean {
  return messageOf(error).startsWith('NOSCRIPT');
}

function lateError(limitMs: number): Error {
  return new Error(`Redis gave no answer in ${limitMs} ms`);
}
