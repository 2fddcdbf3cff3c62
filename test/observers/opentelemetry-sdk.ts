import { type Attributes, context, metrics, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  type ExponentialHistogram,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { onTestFinished } from 'vitest';

/** One value of a metric: of a histogram its count. */
export interface MetricPoint {
  readonly metric: string;
  readonly count: number;
  readonly attributes: Attributes;
}

/** What the SDK of OpenTelemetry has collected. */
export interface Collected {
  readonly tracerProvider: NodeTracerProvider;
  readonly meterProvider: MeterProvider;
  /** The spans that have ended, in that order. */
  readonly spans: () => readonly ReadableSpan[];
  /** The names of the spans and of those below them: `a > b`. The order is that of their beginning. */
  readonly tree: () => readonly string[];
  readonly points: () => Promise<MetricPoint[]>;
  /** The upper bounds of the buckets of each histogram. */
  readonly boundaries: () => Promise<(readonly number[])[]>;
}

/** Sets the SDK up as the global one, as programs do, until the test ends. */
export function useOpenTelemetry(): Collected {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  tracerProvider.register();
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter });
  const meterProvider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(meterProvider);
  onTestFinished(async () => {
    for (const api of [trace, context, propagation, metrics]) api.disable();
    await tracerProvider.shutdown();
    await meterProvider.shutdown();
  });
  const spans = () => exporter.getFinishedSpans();
  const exportMetrics = async (): Promise<void> => {
    metricExporter.reset();
    await reader.forceFlush();
  };
  return {
    tracerProvider,
    meterProvider,
    spans,
    tree: () =>
      spans()
        .map((span) => pathOf(span, spans()))
        .sort(),
    points: async () => {
      await exportMetrics();
      return readPoints(metricExporter);
    },
    boundaries: async () => {
      await exportMetrics();
      return dataPointsOf(metricExporter).flatMap(({ value }) =>
        typeof value !== 'number' && 'buckets' in value ? [value.buckets.boundaries] : [],
      );
    },
  };
}

function pathOf(span: ReadableSpan, spans: readonly ReadableSpan[]): string {
  const { parentSpanContext: parent } = span;
  const above = spans.find((other) => other.spanContext().spanId === parent?.spanId);
  if (above !== undefined) return `${pathOf(above, spans)} > ${span.name}`;
  return parent === undefined ? span.name : `? > ${span.name}`;
}

function readPoints(exporter: InMemoryMetricExporter): MetricPoint[] {
  return dataPointsOf(exporter).map(({ metric, attributes, value }) => ({
    metric,
    count: typeof value === 'number' ? value : value.count,
    attributes,
  }));
}

interface NamedDataPoint extends DataPoint<number | Histogram | ExponentialHistogram> {
  readonly metric: string;
}

function dataPointsOf(exporter: InMemoryMetricExporter): NamedDataPoint[] {
  return exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics)
    .flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map((point) => ({ ...point, metric: descriptor.name })),
    );
}

/** The only span of a name. */
export function spanOf({ spans }: Pick<Collected, 'spans'>, name: string): ReadableSpan {
  const found = spans().filter((span) => span.name === name);
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${found.length} spans are called ${name}`);
  return only;
}

/** Whether a span says that it failed. */
export function isFailed({ status }: ReadableSpan): boolean {
  return status.code === SpanStatusCode.ERROR;
}

/** The length of a span in milliseconds. */
export function durationMsOf({ duration: [seconds, nanoseconds] }: ReadableSpan): number {
  return seconds * 1_000 + nanoseconds / 1e6;
}
