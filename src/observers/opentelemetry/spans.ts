import {
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { MiddlewareContext } from '../../receiver/handling/handlers/middleware.ts';
import { skipReasonOf } from '../../receiver/handling/handlers/named-handler.ts';
import { LineLimit, mayFlood } from '../../receiver/outcomes/line-limit.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import type { ReportCode } from '../../receiver/refusals.ts';
import { messagingAttributes, reportAttributes, shortName, spanName } from './attributes.ts';
import { endAbandoned, noteFailure, noteThrown, recordFailure } from './failures.ts';
import { quietly } from './quietly.ts';

/** A run whose handlers have begun. */
interface OpenRun {
  /** The span of the delivery or call that began the run. */
  readonly span: Span;
  /** The context in which that span is active. */
  readonly context: Context;
  /** The spans of handlers, and of enqueueing, that have not ended. */
  readonly steps: Set<Span>;
  /** True once the span has ended with the answer. Its children may go on. */
  isAnswered: boolean;
}

/** The spans of deliveries, replays, jobs, fetched events and reruns, and of their handlers. */
export class DeliverySpans {
  readonly #provider: TracerProvider | undefined;
  /** They are found by `runId`. */
  readonly #open = new Map<number, OpenRun>();
  /** The limit prints nothing: spans without an exception are still there to be counted. */
  readonly #exceptions = new LineLimit<ReportCode | undefined>(() => {});

  constructor(provider: TracerProvider | undefined) {
    this.#provider = provider;
  }

  /** Runs one step of an event within its own span. */
  async around(step: MiddlewareContext, next: () => Promise<unknown>): Promise<unknown> {
    let running: Promise<unknown> | undefined;
    const run = (): Promise<unknown> => {
      running ??= next();
      return running;
    };
    const begun = quietly(() => this.#beginStep(step));
    if (begun === undefined) return run();
    const { span, open } = begun;
    quietly(() => context.with(trace.setSpan(open.context, span), run));
    try {
      // The step must run even if `with` threw before it called `run`.
      const returned = await run();
      quietly(() => span.setAttributes({ 'posthorn.handler.skipped': skipReasonOf(returned) }));
      return returned;
    } catch (error) {
      quietly(() => noteThrown(span, error));
      throw error;
    } finally {
      // If the run was over before, its span has ended already.
      if (open.steps.delete(span)) quietly(() => span.end());
    }
  }

  #beginStep(step: MiddlewareContext): { readonly span: Span; readonly open: OpenRun } | undefined {
    const known = this.#open.get(step.runId);
    // No further report of a finished run would end the span.
    if (known === undefined && step.signal.aborted) return undefined;
    const open = known ?? this.#beginRun(step);
    const span = step.step === 'handle' ? this.#beginHandler(step, open) : this.#beginEnqueue(step, open);
    open.steps.add(span);
    if (step.step === 'enqueue') inject(trace.setSpan(open.context, span), step.traceContext);
    return { span, open };
  }

  #beginRun(step: MiddlewareContext): OpenRun {
    const { event, receivedAt, runId, source, traceContext, typeLabels } = step;
    const { parent, links } = parentOf(traceContext);
    // Only a delivery starts when it is received: a dead letter and a job hold the time of their first
    // delivery.
    const times = source === 'delivery' ? { startTime: receivedAt } : {};
    const span = this.#startProcess({ event, source, typeLabels }, { links, ...times }, parent);
    const open = { span, context: trace.setSpan(parent, span), steps: new Set<Span>(), isAnswered: false };
    this.#open.set(runId, open);
    return open;
  }

  #beginHandler({ handler }: MiddlewareContext, open: OpenRun): Span {
    const name = handler.name === undefined ? undefined : shortName(handler.name);
    return this.#tracer.startSpan(
      name === undefined ? 'handle' : `handle ${name}`,
      { kind: SpanKind.INTERNAL, attributes: { 'posthorn.handler.name': name } },
      open.context,
    );
  }

  #beginEnqueue({ event, typeLabels }: MiddlewareContext, open: OpenRun): Span {
    return this.#tracer.startSpan(
      spanName('enqueue', typeLabels),
      { kind: SpanKind.PRODUCER, attributes: messagingAttributes('enqueue', event, typeLabels) },
      open.context,
    );
  }

  /** Ends the span that a report is about. If no handler ran, or the run ended late, creates it first. */
  report(report: Report): void {
    const { runId = 0, code, late } = report;
    const open = this.#open.get(runId);
    // After an answer at the deadline the handlers run on, and another report follows.
    const isOver = late || code !== 'deadline_reached';
    if (open !== undefined && isOver) this.#close(open, runId, code);
    const span = open === undefined || open.isAnswered ? this.#beginReported(report, open) : open.span;
    if (open !== undefined) open.isAnswered = true;
    span.setAttributes(reportAttributes(report));
    if (report.error !== undefined) {
      noteFailure(span, report.error, report);
      if (this.#admitsException(report)) recordFailure(span, report.error);
    }
    span.end(report.receivedAt + report.durationMs);
  }

  /** An exception quotes the request, so strangers may cause only as many exceptions as lines of the log. */
  #admitsException(report: Report): boolean {
    this.#exceptions.endIfOver();
    return !mayFlood(report) || this.#exceptions.admit(report.code);
  }

  /** A handler that has not ended by now ignores its signal, and may never end. */
  #close(open: OpenRun, runId: number, code = 'completed_elsewhere'): void {
    this.#open.delete(runId);
    for (const span of open.steps) quietly(() => endAbandoned(span, code));
    open.steps.clear();
  }

  #beginReported(report: Report, open: OpenRun | undefined): Span {
    const { receivedAt } = report;
    return this.#startProcess(report, { startTime: receivedAt }, open?.context ?? context.active());
  }

  /** Starts the span of a delivery, a replay, a job, an accept or a rerun. */
  #startProcess(
    { event, source, typeLabels }: Pick<Report, 'event' | 'source' | 'typeLabels'>,
    options: SpanOptions,
    parent: Context,
  ): Span {
    const attributes = { ...messagingAttributes('process', event, typeLabels), 'posthorn.source': source };
    const name = spanName('process', typeLabels);
    return this.#tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes, ...options }, parent);
  }

  get #tracer(): Tracer {
    return (this.#provider ?? trace.getTracerProvider()).getTracer('posthorn');
  }
}

function inject(from: Context, traceContext: Record<string, string>): void {
  // If a propagator fails, the worker's span lacks its parent, but this span stays.
  quietly(() => propagation.inject(from, traceContext));
}

/**
 * A job's span is a child of the span that enqueued it, so that a delivery is one trace to its end. The
 * conventions ask for a link to that span as well. A span that is active in the worker is linked too.
 */
function parentOf(traceContext: Record<string, string>): {
  readonly parent: Context;
  readonly links: Link[];
} {
  const active = context.active();
  const sent = quietly(() => propagation.extract(ROOT_CONTEXT, traceContext)) ?? ROOT_CONTEXT;
  const creation = trace.getSpanContext(sent);
  if (creation === undefined) return { parent: active, links: [] };
  const ambient = trace.getSpanContext(active);
  return {
    parent: propagation.extract(active, traceContext),
    links: [creation, ambient].flatMap((linked) => (linked === undefined ? [] : [{ context: linked }])),
  };
}
