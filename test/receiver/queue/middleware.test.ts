import type { MiddlewareContext, Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { accepted, eventAt, openDirectly, openEndpoint, refused } from '../../support/open-endpoint.ts';
import { ListQueue } from './list-queue.ts';

const event = createEvent('transfer.succeeded');
const queued = { ...accepted('queued', event.id), status: 202 };
const HOUR_MS = 3_600_000;

type Step = Parameters<Receiver['use']>[0];

/** A receiver with the handlers "log", and "book" in a worker, within a middleware. */
async function open(middleware: Step) {
  const queue = new ListQueue();
  const runs: string[] = [];
  const deadLetters = createMapDeadLetters();
  const endpoint = await openEndpoint({ queue, deadLetters }, (receiver) => {
    receiver
      .use(middleware)
      .on('transfer.*', () => runs.push('log'), { name: 'log' })
      .on('transfer.*', () => runs.push('book'), { name: 'book', queue: true });
  });
  return { ...endpoint, deadLetters, queue, runs };
}

/** Writes a trace context on the way into the queue. */
function sends(traceContext: Record<string, unknown>): Step {
  return (_event, context, next) => {
    if (context.step === 'enqueue') Object.assign(context.traceContext, traceContext);
    return next();
  };
}

describe('middleware runs around the way into the queue', () => {
  test('after the handlers before the answer, and around the handlers in the worker with what it has sent along', async () => {
    const contexts: MiddlewareContext[] = [];
    const { queue, receiver, reports, runs, send } = await open((_event, context, next) => {
      contexts.push({ ...context, traceContext: { ...context.traceContext } });
      context.traceContext.traceparent = `00-of-${context.step}`;
      return next();
    });
    expect(await send(event)).toEqual(queued);
    const job = queue.take();
    expect(job).toMatchObject({ version: 1, traceContext: { traceparent: '00-of-enqueue' } });
    const report = await receiver.dispatch(job, { attempt: 1, final: false });
    expect(report).toMatchObject({ outcome: 'processed', source: 'job' });
    const [accepting, working] = reports.all.map(({ runId }) => runId);
    const delivered = { source: 'delivery', runId: accepting, traceContext: {} };
    expect(contexts).toMatchObject([
      { step: 'handle', handler: { name: 'log' }, ...delivered },
      { step: 'enqueue', handler: {}, ...delivered },
      {
        ...{ step: 'handle', handler: { name: 'book' }, source: 'job', runId: working },
        traceContext: { traceparent: '00-of-enqueue' },
      },
    ]);
    expect(working).toBeGreaterThan(accepting ?? 0);
    expect(runs).toEqual(['log', 'book']);
  });

  test('once, however many of its deliveries come at the same time', async () => {
    const steps: string[] = [];
    const { queue, send } = await open((_event, { step }, next) => {
      steps.push(step);
      return next();
    });
    const gate = shutGate();
    queue.instead = gate.pass;
    const answers = [send(event), send(event)];
    await gate.held.nth(1);
    gate.open();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 202]);
    expect(steps).toEqual(['handle', 'enqueue']);
  });

  test('not where a letter is replayed, which runs everything in its own process', async () => {
    const contexts: MiddlewareContext[] = [];
    const { deadLetters, queue, receiver, send } = await open((_event, context, next) => {
      contexts.push({ ...context });
      return next();
    });
    queue.instead = () => Promise.reject(new Error('OOM'));
    const old = eventAt(Date.now() - HOUR_MS);
    expect(await send(old)).toEqual(accepted('parked', old.id));
    contexts.length = 0;
    for await (const letter of deadLetters.list()) await receiver.replay(letter);
    expect(contexts).toMatchObject([
      { step: 'handle', handler: { name: 'book' }, source: 'replay', traceContext: {} },
    ]);
  });
});

describe('a middleware that fails on the way into the queue', () => {
  const failing: readonly [name: string, fail: Step, inQueue: number][] = [
    ['before it', () => Promise.reject(new Error('no tracer')), 0],
    [
      'after it',
      async (_event, _context, next) => {
        await next();
        throw new Error('no tracer');
      },
      1,
    ],
    ['by leaving next() out', () => {}, 0],
  ];
  test.each(failing)('%s loses nothing: the sender comes again', async (_name, fail, inQueue) => {
    let fails = true;
    const { queue, reports, runs, send } = await open((of, context, next) =>
      fails && context.step === 'enqueue' ? fail(of, context, next) : next(),
    );
    expect(await send(event)).toEqual(refused(503, 'queue_unavailable'));
    expect(queue.jobs).toHaveLength(inQueue);
    const { error } = reports.all[0] ?? {};
    expect(error?.message).toMatch(/^a middleware of receiver.use\(\) failed on the way into the queue: /);
    fails = false;
    expect(await send(event)).toEqual(queued);
    expect(queue.jobs).toHaveLength(1);
    expect(runs).toEqual(['log']);
  });

  test('has the event parked where no retry will come', async () => {
    const { deadLetters, send } = await open((_event, { step }, next) =>
      step === 'enqueue' ? Promise.reject(new Error('no tracer')) : next(),
    );
    const old = eventAt(Date.now() - HOUR_MS);
    expect(await send(old)).toEqual(accepted('parked', old.id));
    expect(await deadLetters.get(old.id)).toMatchObject({ reason: 'queue_unavailable', handled: ['log'] });
  });

  test('is told when the queue fails, and cannot hide it', async () => {
    const seen: unknown[] = [];
    const { queue, reports, send } = await open((_event, { step }, next) =>
      step === 'enqueue' ? next().catch((error) => seen.push(error)) : next(),
    );
    queue.instead = () => Promise.reject(new Error('OOM'));
    expect(await send(event)).toEqual(refused(503, 'queue_unavailable'));
    expect(seen).toEqual([reports.all[0]?.error]);
  });
});

describe('the trace context of a job', () => {
  test('is left out where no middleware writes one', async () => {
    const { queue, send } = await open((_event, _context, next) => next());
    await send(event);
    expect(Object.keys(Object(queue.take()))).not.toContain('traceContext');
  });

  test('has texts only, and 8,192 characters at most', async () => {
    const long = 'x'.repeat(8_192);
    const { queue, send } = await open(
      sends({
        long,
        number: 1,
        none: undefined,
        object: {},
        traceparent: '00',
        rest: 'x'.repeat(8_192 - 17),
      }),
    );
    expect(await send(event)).toEqual(queued);
    expect(queue.take()).toHaveProperty('traceContext', {
      traceparent: '00',
      rest: 'x'.repeat(8_192 - 17),
    });
  });

  test.each([
    { name: 'of an older receiver', traceContext: undefined },
    { name: 'of a newer one', traceContext: { nested: { traceparent: '00' } } },
    { name: 'that is damaged', traceContext: 'traceparent' },
  ])('$name is empty in the worker, which runs the job all the same', async ({ traceContext }) => {
    const seen: unknown[] = [];
    const { queue, receiver, send } = await open((_event, context, next) => {
      if (context.source === 'job') seen.push(context.traceContext);
      return next();
    });
    await send(event);
    const job = { ...Object(queue.take()), traceContext };
    expect(await receiver.dispatch(job, { attempt: 1, final: false })).toMatchObject({
      outcome: 'processed',
    });
    expect(seen).toEqual([{}]);
  });

  test('reaches each handler of the worker by itself', async () => {
    const queue = new ListQueue();
    const seen: unknown[] = [];
    const { receiver, send } = openDirectly({ queue }, (opened) =>
      opened
        .use((_event, { step, handler, traceContext }, next) => {
          if (step === 'handle') seen.push({ ...traceContext });
          traceContext.of = handler.name ?? step;
          return next();
        })
        .on('transfer.*', () => {}, { name: 'book', queue: true })
        .on('transfer.*', () => {}, { name: 'mail', queue: true }),
    );
    await send(event);
    await receiver.dispatch(queue.take(), { attempt: 1, final: false });
    expect(seen).toEqual([{ of: 'enqueue' }, { of: 'enqueue' }]);
  });
});
