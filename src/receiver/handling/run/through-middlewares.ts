import { checkBegun } from '../../checks/called-functions.ts';
import { UnavailableError } from '../../errors.ts';
import type { TypeLabels } from '../../events/type-rules.ts';
import type { ReportSource } from '../../outcomes/report.ts';
import { isInstance, messageOf } from '../../values/foreign-values.ts';
import { RunContext, type ValidEvent } from '../handlers/handlers.ts';
import { type KeptMiddleware, type MiddlewareContext, runWithin } from '../handlers/middleware.ts';
import type { HandlerContext } from '../handlers/route.ts';
import type { Enqueue, RunInput } from './run-input.ts';

/** The most characters that the names and texts of a trace context have in all. */
const TRACE_CONTEXT_LIMIT = 8_192;

/** The facts of a run that middlewares get. */
interface MiddlewareRun {
  readonly typeLabels: TypeLabels;
  readonly event: ValidEvent;
  readonly runId: number;
  readonly attempt: Pick<HandlerContext, 'attempt' | 'final'>;
  readonly interruption: { readonly signal: AbortSignal };
}

/** Wraps the handlers of an event, and its enqueueing, in the middlewares. */
export function throughMiddlewares(
  input: RunInput,
  middlewares: readonly KeptMiddleware[],
  {
    labelsOf,
    ...given
  }: Omit<MiddlewareRun, 'typeLabels'> & {
    readonly labelsOf: (type: string) => TypeLabels;
  },
): Pick<RunInput, 'routes' | 'enqueue'> {
  if (middlewares.length === 0) return input;
  const run: MiddlewareRun = { ...given, typeLabels: labelsOf(input.identity.type) };
  const { routes, enqueue } = input;
  return {
    routes: routes.map((route) => ({
      ...route,
      handle: (event, context) => {
        const { name } = route;
        // A handler with a key has a signal of its own.
        const ofHandler = { ...run, interruption: context };
        const around = new RunMiddlewareContext(input, ofHandler, { step: 'handle', handler: { name } });
        // A middleware passes the value on, so the error of a later check would name the middleware.
        const handle = async () => checkBegun(await route.handle(event, context));
        return runWithin(middlewares, event, around, handle);
      },
    })),
    ...(enqueue && { enqueue: enqueueWithin(middlewares, enqueue, input, run) }),
  };
}

/** A middleware that fails may have kept the event out of the queue, so the delivery fails too. */
function enqueueWithin(
  middlewares: readonly KeptMiddleware[],
  enqueue: Enqueue,
  input: RunInput,
  run: MiddlewareRun,
): Enqueue {
  return async (progress) => {
    const context = new RunMiddlewareContext(input, run, { step: 'enqueue', handler: {} });
    try {
      await runWithin(middlewares, run.event, context, async () => {
        const refusal = await enqueue({ ...progress, traceContext: storable(context.traceContext) });
        if (refusal !== undefined) throw refusal;
      });
      return undefined;
    } catch (error) {
      return asRefusal(error);
    }
  };
}

function asRefusal(error: unknown): UnavailableError {
  if (isInstance(error, UnavailableError)) return error;
  const message = `a middleware of receiver.use() failed on the way into the queue: ${messageOf(error)}`;
  return new UnavailableError('queue_unavailable', message, { cause: error });
}

/** Returns the part of a trace context that the job keeps, or undefined if it is empty. */
function storable(traceContext: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
  let left = TRACE_CONTEXT_LIMIT;
  const kept = Object.entries(traceContext).filter((entry): entry is [string, string] => {
    const [name, text] = entry;
    if (typeof text !== 'string' || name.length + text.length > left) return false;
    left -= name.length + text.length;
    return true;
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

class RunMiddlewareContext extends RunContext implements MiddlewareContext {
  readonly step: MiddlewareContext['step'];
  readonly handler: MiddlewareContext['handler'];
  readonly source: ReportSource;
  readonly runId: number;
  readonly typeLabels: TypeLabels;
  readonly traceContext: Record<string, string>;

  constructor(
    input: RunInput,
    { attempt, interruption, runId, typeLabels }: MiddlewareRun,
    { step, handler }: Pick<MiddlewareContext, 'step' | 'handler'>,
  ) {
    super(input.identity, input, attempt, interruption);
    this.step = step;
    this.handler = handler;
    this.source = input.origin.source;
    this.runId = runId;
    this.typeLabels = typeLabels;
    // A copy for each handler, because handlers run side by side.
    this.traceContext = { ...input.origin.traceContext };
  }
}
