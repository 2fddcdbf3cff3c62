import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { checkOptions, checkReceiver, invalidOption } from '../../receiver/checks/check-options.ts';
import type { ConfigurationError } from '../../receiver/errors.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { MiddlewareContext } from '../../receiver/handling/handlers/middleware.ts';
import type { ObserveOptions, Observer } from '../../receiver/outcomes/report.ts';
import { propertyOf, show } from '../../receiver/values/foreign-values.ts';
import { accountLabelsFor } from '../account-labels.ts';
import { DeliveryMetrics } from './metrics.ts';
import { quietly } from './quietly.ts';
import { DeliverySpans } from './spans.ts';

/** The parts of a receiver that are observed, whatever its schemas. */
export interface TracedReceiver {
  /** See `Receiver.name`. */
  readonly name?: string | undefined;
  /** See `Receiver.observe`. */
  observe(observer: Observer, options?: ObserveOptions): unknown;
  /** See `Receiver.use`. */
  use(
    middleware: (event: TypedEvent, context: MiddlewareContext, next: () => Promise<unknown>) => unknown,
  ): unknown;
}

/** Options of {@link observeWithOpenTelemetry}. */
export interface OpenTelemetryOptions {
  /** A `TracerProvider`, which makes the spans; the global one by default. */
  readonly tracerProvider?: { getTracer(name: string): unknown } | undefined;
  /** A `MeterProvider`, which makes the metrics; the global one by default. */
  readonly meterProvider?: { getMeter(name: string): unknown } | undefined;
}

/**
 * Traces and measures a receiver. Each delivery, replay, job, fetched event and rerun gets a span, with a
 * child span for each handler; counters and histograms measure the results. A handler runs in the context of
 * its span, so its own spans become children of it. Enqueueing has a span too, which is the parent of the
 * worker's span.
 *
 * Call it before you add other middleware, which then runs within the spans. A failure of OpenTelemetry does
 * not change any answer. The default log stays on.
 *
 * @throws ConfigurationError for a wrong option, and after the first delivery.
 *
 * @example
 * ```ts
 * import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
 *
 * observeWithOpenTelemetry(receiver);
 * ```
 */
export function observeWithOpenTelemetry(receiver: TracedReceiver, options: OpenTelemetryOptions = {}): void {
  checkReceiver(receiver, 'observeWithOpenTelemetry', ['use', 'observe']);
  checkOptions(options, ['tracerProvider', 'meterProvider'], 'observeWithOpenTelemetry');
  const { tracerProvider, meterProvider } = options;
  if (tracerProvider !== undefined && !isTracerProvider(tracerProvider))
    throw noProvider('tracerProvider', 'getTracer', tracerProvider);
  if (meterProvider !== undefined && !isMeterProvider(meterProvider))
    throw noProvider('meterProvider', 'getMeter', meterProvider);
  const spans = new DeliverySpans(tracerProvider);
  const metrics = new DeliveryMetrics(meterProvider, receiver.name, accountLabelsFor(receiver));
  receiver.use((_event, context, next) => {
    const isHandler = context.step === 'handle';
    return spans.around(context, isHandler ? () => metrics.around(context, next) : next);
  });
  const observer: Observer = (report) => {
    quietly(() => spans.report(report));
    quietly(() => metrics.report(report));
  };
  receiver.observe(observer, { keepDefaultLog: true });
}

function isTracerProvider(value: unknown): value is TracerProvider {
  return typeof propertyOf(value, 'getTracer') === 'function';
}

function isMeterProvider(value: unknown): value is MeterProvider {
  return typeof propertyOf(value, 'getMeter') === 'function';
}

function noProvider(option: string, method: string, value: unknown): ConfigurationError {
  return invalidOption(option, `must be a provider of OpenTelemetry, with ${method}(), got ${show(value)}`);
}
