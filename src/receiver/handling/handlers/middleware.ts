import { checkBegun } from '../../checks/called-functions.ts';
import { ConfigurationError } from '../../errors.ts';
import type { TypedEvent } from '../../events/event-types.ts';
import type { TypeLabels } from '../../events/type-rules.ts';
import type { ReportSource } from '../../outcomes/report.ts';
import type { HandlerContext } from './route.ts';

/** The second argument of a middleware: the context of the handlers, and the step that is run. */
export interface MiddlewareContext extends HandlerContext {
  /**
   * `handle` around a handler; `enqueue` around adding the job, once for each delivery with queued handlers.
   */
  readonly step: 'handle' | 'enqueue';
  /** The handler that `next()` runs, with the name that `on` was given; without a name for `enqueue`. */
  readonly handler: { readonly name?: string | undefined };
  /** The origin of the run. Its report has the same `source`. */
  readonly source: ReportSource;
  /** The type of the event for metrics and names of spans: see `typeLabels` of a report. */
  readonly typeLabels: TypeLabels;
  /** The number of the run in this process, from 1. Its report has it too. */
  readonly runId: number;
  /**
   * Texts that go with the job into the worker, for example a `traceparent`. A text that is written here on
   * the step `enqueue`, before `next()`, is here again around the handlers in the worker; elsewhere it is
   * empty. Values that are not texts, and those beyond 8,192 characters in all, are left out.
   */
  readonly traceContext: Record<string, string>;
}

/** A middleware as the receiver keeps it: a method, which may take a narrower event. */
export interface KeptMiddleware {
  handle(event: TypedEvent, context: MiddlewareContext, next: () => Promise<unknown>): unknown;
}

/** Runs `last` within the middlewares, the first one outermost. */
export async function runWithin(
  middlewares: readonly KeptMiddleware[],
  event: TypedEvent,
  context: MiddlewareContext,
  last: () => unknown,
): Promise<unknown> {
  const [first, ...others] = middlewares;
  if (first === undefined) return last();
  const calls: Promise<unknown>[] = [];
  let isOver = false;
  const next = (): Promise<unknown> => {
    const mayRun = calls.length === 0 && !isOver;
    const call = mayRun ? runWithin(others, event, context, last) : Promise.reject(calledAgain());
    // If the middleware does not wait for it, an unhandled rejection would end the process.
    call.catch(() => {});
    calls.push(call);
    return call;
  };
  try {
    checkBegun(await first.handle(event, context, next), 'a middleware of receiver.use()');
  } finally {
    isOver = true;
    // Waits even if the middleware does not, because a retry must not overlap the handler.
    await Promise.allSettled(calls);
  }
  if (calls.length === 0) throw neverCalled();
  // Rejects even if the middleware has caught the error: an event whose handler failed must not count as
  // handled.
  const [returned] = await Promise.all(calls);
  return returned;
}

function calledAgain(): ConfigurationError {
  return new ConfigurationError(
    'a middleware of receiver.use() called next() a second time, or after its own end: call it once, and wait for it',
  );
}

function neverCalled(): ConfigurationError {
  return new ConfigurationError(
    'a middleware of receiver.use() ended without next(), so nothing was run: call it once, or throw',
  );
}
