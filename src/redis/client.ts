import { checkOptions, readScope } from '../check-options.ts';
import { ConfigurationError } from '../errors.ts';

/** Runs a script, given as text or by its SHA-1. */
type Evaluate = (script: string, keyCount: number, ...keysAndArguments: string[]) => Promise<unknown>;

/**
 * The parts of an ioredis client that posthorn uses. It is a `Redis` (also through
 * Sentinel) or a `Cluster` of ioredis 5 or 6.
 */
export interface RedisClient {
  /** Commands are sent only while it is `ready`. */
  readonly status: string;
  /** True for `Cluster`. */
  readonly isCluster?: boolean;
  /** The options of ioredis; posthorn reads `enableAutoPipelining`. */
  readonly options?: object | undefined;
  /** Runs a script by its text. */
  eval: Evaluate;
  /** Runs a script that Redis has, by its SHA-1. */
  evalsha: Evaluate;
  /**
   * Creates commands that bypass auto-pipelining. An object that wraps a client with `enableAutoPipelining`
   * should pass on both this method and `options`.
   */
  createBuiltinCommand?(name: string): { readonly string: Evaluate };
  /** posthorn calls it with true, to reconnect, when replies and commands no longer match. */
  disconnect(reconnect: boolean): void;
  /**
   * Adds a listener. posthorn adds one for each of the two events, whatever the number of stores. An object
   * that wraps a client should pass it on: without it no operation waits for the connection.
   */
  on?(event: 'ready' | 'end', listener: () => void): unknown;
}

/** Checks the arguments of a function of `posthorn/redis`; throws {@link ConfigurationError}. */
export function checkArguments(
  functionName: string,
  redis: RedisClient,
  options: { readonly scope: string },
  optionNames: readonly string[],
): void {
  if (!isClient(redis)) {
    throw new ConfigurationError(
      `${functionName} takes a client of ioredis, 5 or 6: new Redis(…) or new Cluster(…)`,
    );
  }
  checkOptions(options, optionNames, functionName);
  readScope(functionName, options.scope);
}

function isClient(redis: unknown): boolean {
  if (typeof redis !== 'object' || redis === null) return false;
  const methods = ['eval', 'evalsha', 'disconnect'].map((name) => Reflect.get(redis, name));
  return (
    typeof Reflect.get(redis, 'status') === 'string' &&
    methods.every((method) => typeof method === 'function')
  );
}
