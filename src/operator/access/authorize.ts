import { oneLine } from '../../receiver/outcomes/one-line.ts';
import type { Awaitable } from '../../receiver/timing/awaitable.ts';
import { performance } from '../../receiver/timing/process-clock.ts';
import { isError, messageOf, propertyOf, textOf, typeNameOf } from '../../receiver/values/foreign-values.ts';
import { ANSWER_MS, callInTime } from '../call-in-time.ts';
import type { OperatorIdentity } from '../options.ts';
import { Problem } from '../problem.ts';

const WARN_EACH_MS = 60_000;

/** Asks `authorize` who sends a request. */
export class Authorization<Context extends readonly unknown[]> {
  readonly #authorize: (request: Request, ...context: Context) => Awaitable<unknown>;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(authorize: (request: Request, ...context: Context) => Awaitable<unknown>) {
    this.#authorize = authorize;
  }

  /** Throws a {@link Problem} if the sender may not use the interface. */
  async identify(request: Request, context: Context): Promise<OperatorIdentity> {
    const given = await this.#ask(request, context);
    // Functions and errors have a name of their own: no person has sent the request.
    const isObject = typeof given === 'object' && given !== null && !isError(given);
    const name = isObject ? textOf(propertyOf(given, 'name')) : undefined;
    if (name !== undefined) return { name, bodies: propertyOf(given, 'bodies') === true };
    if (given !== undefined && given !== null && given !== false)
      this.#warn(`must return { name, bodies? } with a name that is not empty, got ${typeNameOf(given)}`);
    throw new Problem('forbidden', 'the option authorize does not know the sender of this request');
  }

  async #ask(request: Request, context: Context): Promise<unknown> {
    try {
      return await callInTime(() => this.#authorize(request, ...context), ANSWER_MS);
    } catch (error) {
      this.#warn(`failed: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Warns once a minute: a stranger can cause any number of failures. */
  #warn(problem: string): void {
    if (performance.now() - this.#warnedAt < WARN_EACH_MS) return;
    this.#warnedAt = performance.now();
    print(`posthorn/operator: authorize ${oneLine(problem)}; the next minute's failures are not shown`);
  }
}

/** Cloudflare Workers with an earlier compatibility date have no `process.emitWarning`. */
function print(warning: string): void {
  if (typeof propertyOf(process, 'emitWarning') === 'function') process.emitWarning(warning);
  // biome-ignore lint/suspicious/noConsole: a failure of authorize must not go unnoticed
  else console.error(warning);
}
