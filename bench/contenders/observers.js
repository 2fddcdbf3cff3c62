/**
 * What watches a receiver in production: its metrics, its logs or its traces, each by the real package. What
 * they give out is dropped, because where it would go differs from one application to another.
 *
 * @typedef {ReturnType<typeof import('./posthorn-receiver.js').createBenchReceiver>} BenchReceiver
 *
 * @type {Readonly<Record<string, (receiver: BenchReceiver) => Promise<void>>>}
 */
export const observers = {
  async metrics(receiver) {
    const { Registry } = await import('prom-client');
    const { observeWithPrometheus } = await import('../../dist/src/observers/prometheus/index.js');
    observeWithPrometheus(receiver, { register: new Registry() });
  },
  async logs(receiver) {
    const { pino } = await import('pino');
    const { observeWithLogger } = await import('../../dist/src/observers/logger/index.js');
    observeWithLogger(receiver, pino({}, { write() {} }));
  },
  async traces(receiver) {
    const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
    const { MeterProvider } = await import('@opentelemetry/sdk-metrics');
    const { observeWithOpenTelemetry } = await import('../../dist/src/observers/opentelemetry/index.js');
    const exporter = {
      export: (/** @type {unknown} */ _spans, /** @type {(result: { code: number }) => void} */ done) =>
        done({ code: 0 }),
      shutdown: async () => {},
    };
    const tracerProvider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
    tracerProvider.register();
    observeWithOpenTelemetry(receiver, { tracerProvider, meterProvider: new MeterProvider() });
  },
};
