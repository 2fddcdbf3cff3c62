import { type Context, context, diag, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { NodeTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { accepted, openEndpoint, refused } from '../support/open-endpoint.ts';
import { useOpenTelemetry } from './opentelemetry-sdk.ts';

function fail(): never {
  throw new Error('telemetry is broken');
}

/** Every method throws. */
function broken(...methods: readonly string[]): object {
  return Object.fromEntries(methods.map((method) => [method, fail]));
}

const brokenSpan = broken(
  ...['setAttribute', 'setAttributes', 'setStatus', 'recordException'],
  ...['end', 'spanContext', 'isRecording', 'addEvent'],
);

/** Sends an event that one handler books, one that fails, and one for a worker; none must notice. */
async function expectUnchanged(options: object = {}) {
  const queue = new ListQueue();
  const runs: string[] = [];
  const seen: unknown[] = [];
  const { receiver, reports, send } = await openEndpoint({ queue }, (opened) => {
    Reflect.apply(observeWithOpenTelemetry, undefined, [opened, options]);
    opened
      .on('transfer.*', () => void runs.push('book'), { name: 'book' })
      .on('dispute.*', () => Promise.reject(new Error('locked')))
      .on('merchant.*', () => void runs.push('verify'), { name: 'verify', queue: true })
      .observe(({ outcome }) => seen.push(outcome));
  });
  const transfer = createEvent('transfer.created');
  expect(await send(transfer)).toEqual(accepted('processed', transfer.id));
  expect(await send(createEvent('dispute.won'))).toEqual(refused(500, 'handler_failed'));
  expect(await send(createEvent('merchant.created'))).toMatchObject({ status: 202 });
  const { outcome } = await receiver.dispatch(queue.take(), { attempt: 1, final: false });
  expect(outcome).toBe('processed');
  expect(runs).toEqual(['book', 'verify']);
  expect(seen).toEqual(['processed', 'failed', 'queued', 'processed']);
  expect(reports.all).toHaveLength(4);
}

describe('no answer changes, and each handler runs once, where', () => {
  const tracers: readonly [name: string, tracer: object][] = [
    ['the tracer throws', { startSpan: fail }],
    ['the tracer has no spans', { startSpan: () => undefined }],
    ['every method of a span throws', { startSpan: () => brokenSpan }],
  ];
  test.each(tracers)('%s', async (_name, tracer) => {
    useOpenTelemetry();
    await expectUnchanged({ tracerProvider: { getTracer: () => tracer } });
  });

  test('the providers throw', async () => {
    useOpenTelemetry();
    await expectUnchanged({ tracerProvider: { getTracer: fail }, meterProvider: { getMeter: fail } });
  });

  test('the meter throws, or what it makes', async () => {
    useOpenTelemetry();
    const meter = { createCounter: () => ({ add: fail }), createHistogram: () => ({ record: fail }) };
    for (const getMeter of [() => broken('createCounter', 'createHistogram'), () => meter])
      await expectUnchanged({ meterProvider: { getMeter } });
  });

  type Run = () => unknown;
  const managers: readonly [name: string, active: () => Context, pass: (run: Run) => unknown][] = [
    ['has no context', fail, (run) => run()],
    ['throws before it runs anything', () => ROOT_CONTEXT, fail],
    [
      'throws after it has begun the handler',
      () => ROOT_CONTEXT,
      (run) => {
        run();
        return fail();
      },
    ],
    ['forgets to run anything', () => ROOT_CONTEXT, () => undefined],
  ];
  test.each(managers)('the context manager %s', async (_name, active, pass) => {
    const { tracerProvider } = useOpenTelemetry();
    context.disable();
    const manager = {
      active,
      with: (
        _context: Context,
        run: (...values: unknown[]) => unknown,
        self: unknown,
        ...values: unknown[]
      ) => pass(() => Reflect.apply(run, self, values)),
      ...broken('bind', 'enable'),
      disable: () => manager,
    };
    Reflect.apply(context.setGlobalContextManager, context, [manager]);
    await expectUnchanged({ tracerProvider });
  });

  test('the propagator throws', async () => {
    useOpenTelemetry();
    propagation.disable();
    propagation.setGlobalPropagator({ inject: fail, extract: fail, fields: () => [] });
    await expectUnchanged();
  });

  test('the exporter hangs or throws, and so does the log of OpenTelemetry', async () => {
    useOpenTelemetry();
    diag.setLogger({ error: fail, warn: fail, info: fail, debug: fail, verbose: fail });
    onTestFinished(() => diag.disable());
    for (const doExport of [fail, () => {}]) {
      const exporter = {
        export: (_spans: ReadableSpan[], _done: unknown) => doExport(),
        shutdown: () => new Promise<void>(() => {}),
      };
      const spanProcessors = [new SimpleSpanProcessor(exporter)];
      await expectUnchanged({ tracerProvider: new NodeTracerProvider({ spanProcessors }) });
    }
  });
});

test('what fails is told to the log of OpenTelemetry', async () => {
  useOpenTelemetry();
  const told: unknown[] = [];
  const quiet = (): void => {};
  diag.setLogger({
    error: (...texts) => told.push(texts),
    warn: quiet,
    info: quiet,
    debug: quiet,
    verbose: quiet,
  });
  onTestFinished(() => diag.disable());
  await expectUnchanged({ tracerProvider: { getTracer: fail } });
  expect(told).toContainEqual(['posthorn: telemetry is broken']);
});
