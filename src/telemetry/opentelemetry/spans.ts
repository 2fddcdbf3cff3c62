import {
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { WebhookEvent } from '../../events/event.ts';
import type { MiddlewareContext } from '../../handling/middleware.ts';
import { skipReasonOf } from '../../handling/named-handler.ts';
import { LineLimit, mayFlood } from '../../outcomes/line-limit.ts';
import type { ReportCode } from '../../outcomes/outcome.ts';
import type { Report } from '../../outcomes/report.ts';
import { messagingAttributes, reportAttributes, shortName, spanName } from './attributes.ts';
import { endAbandoned, noteFailure, noteThrown, recordFailure } from './failures.ts';
import { quietly } from './quietly.ts';

type Identity = Pick<WebhookEvent, 'id' | 'type'>;

/** A run whose handlers have begun. */
interface OpenRun {
  /** The span of what began the run. */
  readonly span: Span;
  /** In which that span is the active one. */
  readonly context: Context;
  /** Those of the handlers, and of the way into the queue, that have not ended. */
  readonly steps: Set<Span>;
  /** The span ends with the answer; what goes on after it stays below it. */
  isAnswered: boolean;
}

/** The spans of deliveries, replays and jobs, and of their handlers. */
export class DeliverySpans {
  readonly #provider: TracerProvider | undefined;
  /** By `runId`. */
  readonly #open = new Map<number, OpenRun>();
  /** The spans stay, and their number can be counted: nobody needs to be told what had no exception. */
  readonly #exceptions = new LineLimit<ReportCode | undefined>(() => {});

  constructor(provider: TracerProvider | undefined) {
    this.#provider = provider;
  }

  /** Runs one step of an event within a span of its own. */
  async around(event: Identity, step: MiddlewareContext, next: () => Promise<unknown>): Promise<unknown> {
    let running: Promise<unknown> | undefined;
    const run = (): Promise<unknown> => {
      running ??= next();
      return running;
    };
    const begun = quietly(() => this.#beginStep(event, step));
    if (begun === undefined) return run();
    const { span, open } = begun;
    quietly(() => context.with(trace.setSpan(open.context, span), run));
    try {
      // Also where `with` has thrown before it came to that.
      const returned = await run();
      quietly(() => span.setAttributes({ 'posthorn.handler.skipped': skipReasonOf(returned) }));
      return returned;
    } catch (error) {
      quietly(() => noteThrown(span, error));
      throw error;
    } finally {
      // A run that was over before has ended it.
      if (open.steps.delete(span)) quietly(() => span.end());
    }
  }

  #beginStep(
    event: Identity,
    step: MiddlewareContext,
  ): { readonly span: Span; readonly open: OpenRun } | undefined {
    const known = this.#open.get(step.runId);
    // A run that is over has no further report, which would end its span.
    if (known === undefined && step.signal.aborted) return undefined;
    const open = known ?? this.#beginRun(event, step);
    const span = step.step === 'handle' ? this.#beginHandler(step, open) : this.#beginEnqueue(event, open);
    open.steps.add(span);
    if (step.step === 'enqueue') inject(trace.setSpan(open.context, span), step.traceContext);
    return { span, open };
  }

  #beginRun(event: Identity, { runId, source, receivedAt, traceContext }: MiddlewareContext): OpenRun {
    const { parent, links } = parentOf(traceContext);
    const span = this.#tracer.startSpan(
      spanName('process', event.type),
      {
        kind: SpanKind.CONSUMER,
        links,
        attributes: { ...messagingAttributes('process', event), 'posthorn.source': source },
        // A letter and a job bear the time at which their delivery had come.
        ...(source === 'delivery' && { startTime: receivedAt }),
      },
      parent,
    );
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

  #beginEnqueue(event: Identity, open: OpenRun): Span {
    return this.#tracer.startSpan(
      spanName('enqueue', event.type),
      { kind: SpanKind.PRODUCER, attributes: messagingAttributes('enqueue', event) },
      open.context,
    );
  }

  /** Ends the span of what is reported; makes it where no handler ran, and for a late end. */
  report(report: Report): void {
    const { runId = 0, code, late } = report;
    const open = this.#open.get(runId);
    // An answer at the deadline leaves the handlers running, and another report follows.
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

  /** An exception quotes what was sent: strangers cause no more of them than lines of the log. */
  #admitsException(report: Report): boolean {
    this.#exceptions.endIfOver();
    return !mayFlood(report) || this.#exceptions.admit(report.code);
  }

  /** A handler that has not ended by now is deaf to its signal, and may never end. */
  #close(open: OpenRun, runId: number, code = 'completed_elsewhere'): void {
    this.#open.delete(runId);
    for (const span of open.steps) quietly(() => endAbandoned(span, code));
    open.steps.clear();
  }

  #beginReported(report: Report, open: OpenRun | undefined): Span {
    const { event, receivedAt, source } = report;
    const attributes = { ...messagingAttributes('process', event), 'posthorn.source': source };
    return this.#tracer.startSpan(
      spanName('process', event?.type),
      { kind: SpanKind.CONSUMER, startTime: receivedAt, attributes },
      open?.context ?? context.active(),
    );
  }

  get #tracer(): Tracer {
    return (this.#provider ?? trace.getTracerProvider()).getTracer('posthorn');
  }
}

function inject(from: Context, traceContext: Record<string, string>): void {
  // A propagator that fails costs the worker its parent, and not this span.
  quietly(() => propagation.inject(from, traceContext));
}

/**
 * A job's span is a child of that of its way into the queue, so that a delivery is one trace to its end. The
 * conventions ask for a link to that as well. What is active in the worker besides is linked.
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
