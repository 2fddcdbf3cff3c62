import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOffSampler, BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { bench, group } from 'mitata';
import { observeWithOpenTelemetry } from '../../dist/src/observers/opentelemetry/index.js';
import { createBenchReceiver } from '../contenders/posthorn-receiver.js';
import { nextDelivery } from './delivery.js';

export const title = 'opentelemetry';

const AT_ONCE = 50;

/** Collects, and sends nothing: what an exporter costs depends on where it sends to. */
class SilentReader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

const nowhere = {
  export: (/** @type {unknown} */ _spans, /** @type {(result: { code: number }) => void} */ done) =>
    done({ code: 0 }),
  shutdown: async () => {},
};

/** What spans and metrics add to a delivery with one handler. */
export function register() {
  const recording = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(nowhere)] });
  const sampledOut = new NodeTracerProvider({ sampler: new AlwaysOffSampler() });
  recording.register();
  const meterProvider = new MeterProvider({ readers: [new SilentReader()] });
  const receivers = {
    'without it': createBenchReceiver(),
    'metrics, spans sampled out': createObserved({ tracerProvider: sampledOut, meterProvider }),
    'metrics and spans': createObserved({ tracerProvider: recording, meterProvider }),
  };
  group(`opentelemetry: ${AT_ONCE} deliveries at once`, () => {
    for (const [name, receiver] of Object.entries(receivers)) {
      bench(name, function* () {
        yield {
          0: () => Array.from({ length: AT_ONCE }, nextDelivery),
          bench: (/** @type {ReturnType<typeof nextDelivery>[]} */ deliveries) =>
            Promise.all(deliveries.map((delivery) => receiver.receive(delivery))),
        };
      });
    }
  });
  return () => recording.shutdown();
}

/** @param {import('../../dist/src/observers/opentelemetry/index.js').OpenTelemetryOptions} options */
function createObserved(options) {
  const receiver = createBenchReceiver();
  observeWithOpenTelemetry(receiver, options);
  return receiver;
}
