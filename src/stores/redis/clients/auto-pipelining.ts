/** Runs a script, given as text or by its SHA-1. */
export type Evaluate = (script: string, keyCount: number, ...keysAndArguments: string[]) => Promise<unknown>;

/** The two commands that run a script. */
export interface ScriptCommands {
  readonly eval: Evaluate;
  readonly evalsha: Evaluate;
}

/** A client that may pipeline by itself. */
interface PipeliningClient extends ScriptCommands {
  readonly options?: object | undefined;
  createBuiltinCommand?(name: string): { readonly string: Evaluate };
}

/**
 * Returns `eval` and `evalsha` of a client, in a form that bypasses its auto-pipelining.
 *
 * A client with `enableAutoPipelining` holds each new command back until the reply to the pipeline before has
 * come: "While an automatic pipeline is executing, all new commands will be enqueued in a new pipeline which
 * will be executed as soon as the previous finishes" (README of ioredis, "Autopipelining"; see also
 * redis/ioredis issue 1608). A claim would wait behind any slow command of the application. Each pipeline
 * also stays in memory until a full garbage collection. The store puts its operations together by itself, so
 * it does not need those pipelines.
 *
 * Commands from `createBuiltinCommand` bypass auto-pipelining in ioredis 5 and 6, because they have no name
 * among the methods of a pipeline (`shouldUseAutoPipelining` in its `autoPipelining.ts`).
 */
export function bypassAutoPipelining(redis: PipeliningClient): ScriptCommands {
  if (!hasAutoPipelining(redis)) return redis;
  const evaluate = redis.createBuiltinCommand?.('eval').string;
  const evaluateSha = redis.createBuiltinCommand?.('evalsha').string;
  if (evaluate === undefined || evaluateSha === undefined) return redis;
  return { eval: evaluate.bind(redis), evalsha: evaluateSha.bind(redis) };
}

function hasAutoPipelining({ options }: PipeliningClient): boolean {
  return options !== undefined && Reflect.get(options, 'enableAutoPipelining') === true;
}
