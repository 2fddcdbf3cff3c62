import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { checkOptions, invalidOption } from '../check-options.ts';
import { ConfigurationError, show } from '../errors.ts';
import type { Receiver } from '../receiver-interface.ts';
import { DeliveryMetrics } from './opentelemetry/metrics.ts';
import { quietly } from './opentelemetry/quietly.ts';
import { DeliverySpans } from './opentelemetry/spans.ts';

/** Options of {@link observeWithOpenTelemetry}. */
export interface OpenTelemetryOptions {
  /** Makes the spans; the global one by default. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the metrics; the global one by default. */
  readonly meterProvider?: MeterProvider | undefined;
}

/**
 * Traces and measures a receiver: a span for each delivery, replay and job, with one for each handler below
 * it, and counters and histograms of what became of them. A handler runs in the context of its span, so that
 * the spans that it makes are children of it. The way into the queue has a span too, and the span of the
 * worker is a child of that.
 *
 * Call it before other middleware, which then runs within the spans. Nothing that OpenTelemetry does or fails
 * to do changes an answer. As one observer it switches the default log off.
 *
 * @throws ConfigurationError for a wrong option, and after the first delivery.
 *
 * @example
 * ```ts
 * observeWithOpenTelemetry(receiver);
 * ```
 */
export function observeWithOpenTelemetry(
  receiver: Pick<Receiver, 'observe' | 'use'>,
  options: OpenTelemetryOptions = {},
): void {
  if (typeof receiver?.use !== 'function')
    throw new ConfigurationError('observeWithOpenTelemetry takes a receiver, and then its options');
  checkOptions(options, ['tracerProvider', 'meterProvider'], 'observeWithOpenTelemetry');
  checkProvider('tracerProvider', options.tracerProvider, 'getTracer');
  checkProvider('meterProvider', options.meterProvider, 'getMeter');
  const spans = new DeliverySpans(options.tracerProvider);
  const metrics = new DeliveryMetrics(options.meterProvider);
  receiver.use((event, context, next) => {
    const { step, handler } = context;
    return spans.around(event, context, () => (step === 'handle' ? metrics.around(handler, next) : next()));
  });
  receiver.observe((report) => {
    quietly(() => spans.report(report));
    quietly(() => metrics.report(report));
  });
}

function checkProvider(name: string, value: unknown, method: string): void {
  if (value === undefined || typeof Object(value)[method] === 'function') return;
  throw invalidOption(name, `must be a provider of OpenTelemetry, with ${method}(), got ${show(value)}`);
}
