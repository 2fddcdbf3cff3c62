import { checkOptions } from '../check-options.ts';
import { ConfigurationError, show } from '../errors.ts';

/** Runs a script, given as text or by its SHA-1. */
type Evaluate = (script: string, keyCount: number, ...keysAndArguments: string[]) => Promise<unknown>;

/** What is used of an ioredis client, 5 or 6: `Redis` (also through Sentinel) or `Cluster`. */
export interface RedisClient {
  /** Commands are sent only while it is `ready`. */
  readonly status: string;
  /** True for `Cluster`. */
  readonly isCluster?: boolean;
  /** Those of ioredis: `enableAutoPipelining` is asked for. */
  readonly options?: object | undefined;
  eval: Evaluate;
  evalsha: Evaluate;
  /** Makes commands that are not pipelined; a wrapper around a client with `enableAutoPipelining` hands on both. */
  createBuiltinCommand?(name: string): { readonly string: Evaluate };
  /** Called with true, to connect anew, when replies and commands no longer match. */
  disconnect(reconnect: boolean): void;
}

/**
 * Checks what a function of `posthorn/redis` is given; throws {@link ConfigurationError}. The characters of a scope are none
 * of those that follow it in a key, so that one scope's keys never look like another's.
 */
export function checkArguments(
  taker: string,
  redis: RedisClient,
  options: { readonly scope: string },
  optionNames: readonly string[],
): void {
  if (!isClient(redis)) {
    throw new ConfigurationError(
      `${taker} takes a client of ioredis, 5 or 6: new Redis(…) or new Cluster(…)`,
    );
  }
  checkOptions(options, optionNames, taker);
  const { scope } = options;
  if (typeof scope === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(scope)) return;
  throw new ConfigurationError(
    `scope of ${taker} is required: 1 to 64 letters, digits, ".", "_" or "-" that name the application and its ` +
      `environment, for example "billing-production"; got ${show(scope)}`,
  );
}

function isClient(redis: unknown): boolean {
  if (typeof redis !== 'object' || redis === null) return false;
  const methods = ['eval', 'evalsha', 'disconnect'].map((name) => Reflect.get(redis, name));
  return (
    typeof Reflect.get(redis, 'status') === 'string' &&
    methods.every((method) => typeof method === 'function')
  );
}
