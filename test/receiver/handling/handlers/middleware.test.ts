import { ConfigurationError, type MiddlewareContext, PermanentError, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { shutGate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, type Endpoint, openEndpoint, refused } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';

const event = createEvent('transfer.succeeded');

/** An endpoint whose handler "book" runs within what `register` adds. */
async function open(register: (receiver: Receiver) => unknown, handle: () => unknown = () => {}) {
  const runs: unknown[] = [];
  const endpoint = await openEndpoint({}, (receiver) => {
    register(receiver);
    receiver.on(
      'transfer.*',
      () => {
        runs.push('book');
        return handle();
      },
      { name: 'book' },
    );
  });
  return { ...endpoint, runs };
}

function errorOf({ reports }: Pick<Endpoint, 'reports'>): unknown {
  return reports.all.at(-1)?.error;
}

test('several middlewares nest in the order of registration, around each handler by itself', async () => {
  const steps: string[] = [];
  const step = (name: string): Parameters<Receiver['use']>[0] => {
    return async ({ id }, { handler }, next) => {
      steps.push(`${name} begins ${handler.name}`);
      expect(id).toBe(event.id);
      const returned = await next();
      steps.push(`${name} ends ${handler.name}: ${returned}`);
    };
  };
  const { send } = await openEndpoint({}, (receiver) => {
    receiver
      .use(step('outer'))
      .use(step('inner'))
      .on('transfer.*', () => 'booked', { name: 'book' });
  });
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(steps).toEqual([
    'outer begins book',
    'inner begins book',
    'inner ends book: booked',
    'outer ends book: booked',
  ]);
});

test('runs around handlers without a name and around onUnhandled', async () => {
  const seen: unknown[] = [];
  const { send } = await openEndpoint({}, (receiver) => {
    receiver
      .use(({ type }, { handler, step }, next) => {
        seen.push([type, step, handler]);
        return next();
      })
      .on(['transfer.*', 'dispute.*'], () => {})
      .on('dispute.*', () => {}, { name: 'second' })
      .onUnhandled(() => {});
  });
  await send(createEvent('dispute.won'));
  await send(createEvent('merchant.created'));
  expect(seen).toEqual([
    ['dispute.won', 'handle', {}],
    ['dispute.won', 'handle', { name: 'second' }],
    ['merchant.created', 'handle', {}],
  ]);
});

test('its context is that of the handler, and says what runs; its signal is created only when it is read', async () => {
  const contexts: MiddlewareContext[] = [];
  const { reports, send } = await open((receiver) =>
    receiver.use((_event, context, next) => {
      contexts.push({ ...context });
      return next();
    }),
  );
  await send(event);
  const [context] = contexts;
  expect(context).toMatchObject({ attempt: 1, final: false, source: 'delivery', step: 'handle' });
  expect(context).toMatchObject({ handler: { name: 'book' }, traceContext: {} });
  expect(JSON.parse(Buffer.from(context?.rawBody ?? []).toString())).toEqual(event);
  expect(context?.signal.aborted).toBe(false);
  expect(context?.receivedAt).toBe(reports.all[0]?.receivedAt);
});

describe('the run is numbered, and the reports of what began it have the number', () => {
  test('of a delivery and of its retry', async () => {
    const runIds: number[] = [];
    let fails = true;
    const { reports, send } = await open(
      (opened) =>
        opened.use((_event, { runId }, next) => {
          runIds.push(runId);
          return next();
        }),
      () => {
        if (fails) throw new Error('locked');
      },
    );
    await send(event);
    fails = false;
    await send(event);
    expect(reports.all.map(({ runId }) => runId)).toEqual(runIds);
    const [first = 0, second = 0] = runIds;
    expect(second).toBeGreaterThan(first);
    expect(first).toBeGreaterThan(0);
    expect(reports.all.map(({ source }) => source)).toEqual(['delivery', 'delivery']);
  });

  test('of a delivery that is answered before the end; the one that joined it has none', async () => {
    const held = new HeldHandler();
    const runIds: number[] = [];
    const { reports, send } = await openEndpoint({ deadlineMs: 300 }, (receiver) => {
      receiver
        .use((_event, { runId }, next) => {
          runIds.push(runId);
          return next();
        })
        .on('transfer.*', held.handle);
    });
    const first = send(event);
    const call = await held.calls.nth(1);
    const statuses = [send(event), first].map(async (answer) => (await answer).status);
    expect(await Promise.all(statuses)).toEqual([503, 503]);
    call.succeed();
    await reports.first(({ late }) => late);
    const seen = reports.all.map(({ code, late, runId }) => ({ code, late, runId }));
    const [runId] = runIds;
    expect(seen).toEqual(
      expect.arrayContaining([
        { code: 'deadline_reached', late: false, runId },
        { code: 'event_running', late: false, runId: undefined },
        { code: undefined, late: true, runId },
      ]),
    );
    expect(runIds).toHaveLength(1);
  });

  test('of a replay', async () => {
    const seen: unknown[] = [];
    const deadLetters = createMapDeadLetters();
    let fails = true;
    const { receiver, reports, send } = await openEndpoint({ deadLetters }, (opened) => {
      opened
        .use((_event, { runId, source }, next) => {
          seen.push({ runId, source });
          return next();
        })
        .on('transfer.*', () => {
          if (fails) throw new PermanentError('no');
        });
    });
    await send(event);
    fails = false;
    expect(await receiver.replay(await letterOf(deadLetters, event.id))).toMatchObject({
      outcome: 'processed',
      source: 'replay',
    });
    expect(reports.all.map(({ runId, source }) => ({ runId, source }))).toEqual(seen);
    expect(seen).toMatchObject([{ source: 'delivery' }, { source: 'replay' }]);
  });
});

describe('what counts is', () => {
  test('the error of a middleware: the handler that it failed runs again', async () => {
    let fails = true;
    const thrown = new Error('the tenant is unknown');
    const { reports, runs, send } = await open((receiver) =>
      receiver.use(async (_event, _context, next) => {
        await next();
        if (fails) throw thrown;
      }),
    );
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(errorOf({ reports })).toMatchObject({
      message: 'the handler "book" failed: the tenant is unknown',
      cause: thrown,
    });
    expect(reports.all[0]?.handlers).toMatchObject([{ name: 'book', ok: false }]);
    fails = false;
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(runs).toEqual(['book', 'book']);
  });

  test('the error that a middleware throws in place of that of the handler', async () => {
    const deadLetters = createMapDeadLetters();
    const { send } = await openEndpoint({ deadLetters }, (receiver) => {
      receiver
        .use((_event, _context, next) =>
          next().catch((cause) => {
            throw new PermanentError('no such account', { cause });
          }),
        )
        .on('transfer.*', () => Promise.reject(new Error('404')));
    });
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(await letterOf(deadLetters, event.id)).toMatchObject({ reason: 'handler_failed_permanently' });
  });

  const swallowing: readonly [name: string, middleware: Parameters<Receiver['use']>[0]][] = [
    ['catches it', (_event, _context, next) => next().catch(() => 'all is well')],
    [
      'only prints it',
      async (_event, _context, next) => {
        try {
          await next();
        } catch {}
      },
    ],
    ['does not wait for next()', (_event, _context, next) => void next()],
  ];
  test.each(swallowing)('the error of the handler, also where a middleware %s', async (_name, middleware) => {
    const { reports, runs, send } = await open(
      (receiver) => receiver.use(middleware),
      () => Promise.reject(new Error('locked')),
    );
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(errorOf({ reports })).toMatchObject({ message: 'the handler "book" failed: locked' });
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(runs).toHaveLength(2);
  });

  test('the end of the handler, also where a middleware fails before it without waiting', async () => {
    const gate = shutGate();
    const { reports, send } = await open(
      (receiver) =>
        receiver.use((_event, _context, next) => {
          void next();
          throw new Error('before the end');
        }),
      gate.pass,
    );
    const answer = send(event);
    await gate.held.nth(1);
    expect(reports.all).toEqual([]);
    gate.open();
    expect(await answer).toEqual(refused(500, 'handler_failed'));
  });
});

describe('a handler fails where a middleware', () => {
  test('ends without next(): the event was not handled', async () => {
    const { reports, runs, send } = await open((receiver) => receiver.use(() => 'not today'));
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(runs).toEqual([]);
    expect(errorOf({ reports })).toMatchObject({
      message: expect.stringContaining('ended without next(), so nothing was run'),
      cause: expect.any(ConfigurationError),
    });
  });

  test('calls next() twice: the handler runs once', async () => {
    const { reports, runs, send } = await open((receiver) =>
      receiver.use(async (_event, _context, next) => {
        await next();
        void next();
      }),
    );
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(runs).toEqual(['book']);
    expect(errorOf({ reports })).toMatchObject({
      message: expect.stringContaining('called next() a second time'),
    });
  });

  test('calls next() only after its own end: the handler does not run beside the retry', async () => {
    const late = new Seen<unknown>();
    const { runs, send } = await open((receiver) =>
      receiver.use((_event, _context, next) => {
        setImmediate(() => next().catch(late.add));
      }),
    );
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(await late.nth(1)).toMatchObject({ message: expect.stringContaining('after its own end') });
    expect(runs).toEqual([]);
  });

  test('throws at once, whatever it throws', async () => {
    const { runs, send } = await open((receiver) =>
      receiver.use(() => {
        throw undefined;
      }),
    );
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(runs).toEqual([]);
  });
});

describe('use() throws ConfigurationError', () => {
  test.each([undefined, null, {}, 'log', [() => {}]])('for %j, which is no function', async (value) => {
    await openEndpoint({}, (receiver) => {
      expect(() => Reflect.apply(receiver.use, receiver, [value])).toThrow(ConfigurationError);
      expect(() => Reflect.apply(receiver.use, receiver, [value])).toThrow('must be a function');
    });
  });

  test('after the first delivery, around which it would be missing', async () => {
    const { receiver, send } = await open(() => {});
    await send(event);
    expect(() => receiver.use((_event, _context, next) => next())).toThrow(ConfigurationError);
    expect(() => receiver.use((_event, _context, next) => next())).toThrow(/^use\(\) was called after/);
  });
});
