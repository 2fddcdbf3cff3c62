import fastify from 'fastify';
import { createMemoryStore, type Receiver, type Report } from 'posthorn';
import { type Logger, observeWithLogger } from 'posthorn/logger';
import { createEvent, deliver } from 'posthorn/testing';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from 'winston';
import { deliveryOf } from '../support/delivery-of.ts';
import { errorOf } from '../support/error-of.ts';
import { fakeTimers } from '../support/fake-time.ts';
import { handledEntry } from '../support/handled-entry.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { type EndpointOptions, eventAt } from '../support/open-endpoint.ts';
import { usePrintedErrors } from '../support/printed-errors.ts';
import { Seen } from '../support/seen.ts';
import { KEY, post, serve } from '../support/served.ts';
import { MINUTE_MS } from '../support/step-clock.ts';
import { createUnobserved } from '../support/unobserved-receiver.ts';
import { Lines, openConsole, openPino, openWinston } from './log-sinks.ts';

const { printed } = usePrintedErrors();

/** A receiver that tells a logger. */
function createLogged(logger: Logger, options?: EndpointOptions): Receiver {
  const receiver = createUnobserved(options);
  observeWithLogger(receiver, logger);
  onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
  return receiver;
}

const fail = (): never => {
  throw new Error('no booking today');
};
/** Takes some milliseconds. */
const spin = (): void => {
  for (const endsAt = performance.now() + 3; performance.now() < endsAt; );
};
const forged = { key: 'other' };

interface Line {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A logger that takes the fields first, whose lines a test can wait for. */
function openLogger() {
  const lines = new Seen<Line>();
  const at = (level: string) => (fields: object, message: string) =>
    lines.add({ level, fields: JSON.parse(JSON.stringify(fields)), message });
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } };
}

/** Sends a good event, one whose handler fails, and one that is forged. */
async function sendThree(logger: Logger) {
  const receiver = createLogged(logger)
    .on('transfer.created', () => {}, { name: 'book' })
    .on('dispute.won', fail);
  const url = await serve(receiver);
  const [good, bad] = [createEvent('transfer.created'), createEvent('dispute.won')];
  await deliver(url, good, { key: KEY });
  await deliver(url, bad, { key: KEY });
  await deliver(url, good, forged);
  return { good, bad };
}

/** The fields of the three lines. */
function expectedFields({ good, bad }: Awaited<ReturnType<typeof sendThree>>) {
  const durationMs = expect.any(Number);
  return [
    {
      outcome: 'processed',
      status: 200,
      event: { id: good.id, type: good.type },
      attempt: 1,
      durationMs,
      handlers: [{ name: 'book', ok: true, durationMs }],
    },
    {
      outcome: 'failed',
      status: 500,
      code: 'handler_failed',
      event: { id: bad.id, type: bad.type },
      attempt: 1,
      durationMs,
      handlers: [{ ok: false, durationMs }],
      error: {
        message: 'a handler failed: no booking today',
        stack: expect.stringMatching(/^\[stack: at fail \(.*logger\.test\.ts:\d+:\d+\)/),
      },
    },
    {
      outcome: 'rejected',
      status: 403,
      code: 'signature_mismatch',
      durationMs,
      error: { message: expect.stringMatching(/^the signature does not match the signing key: /) },
    },
  ];
}

const messages = [
  'posthorn: processed 200',
  'posthorn: failed 500 handler_failed',
  'posthorn: rejected 403 signature_mismatch',
];

describe('one line for each delivery, with', () => {
  test('pino: the fields stay fields', async () => {
    const { logger, lines } = openPino();
    const fields = expectedFields(await sendThree(logger));
    const levels = [30, 40, 40];
    expect(lines.json).toEqual(
      fields.map((each, index) => ({
        level: levels[index],
        time: expect.any(Number),
        ...each,
        msg: messages[index],
      })),
    );
  });

  test('winston: the fields stay fields', async () => {
    const { logger, lines } = openWinston();
    const fields = expectedFields(await sendThree(logger));
    const levels = ['info', 'warn', 'warn'];
    expect(lines.json).toEqual(
      fields.map((each, index) => ({ level: levels[index], ...each, message: messages[index] })),
    );
  });

  test('durations in tenths of a millisecond', async () => {
    const { logger, lines } = openLogger();
    const reports = new Seen<Report>();
    const receiver = createLogged(logger).observe(reports.add).on('*', spin);
    await receiver.receive(deliveryOf(createEvent('transfer.created')));
    const { durationMs } = await reports.nth(1);
    const told = Number((await lines.nth(1)).fields.durationMs);
    expect(Math.abs(told - durationMs)).toBeLessThan(0.1);
    expect(String(told)).toMatch(/^\d+(\.\d)?$/);
  });

  test('the time that a handler waited for its key', async () => {
    const { logger, lines } = openLogger();
    const held = new HeldHandler();
    const reports = new Seen<Report>();
    const receiver = createLogged(logger)
      .observe(reports.add)
      .on('*', held.handle, { name: 'book', concurrencyKey: () => 'TR_1' });
    const first = receiver.receive(deliveryOf(createEvent('transfer.created')));
    await held.calls.nth(1);
    const second = receiver.receive(deliveryOf(createEvent('transfer.created')));
    held.calls.all[0]?.succeed();
    await first;
    (await held.calls.nth(2)).succeed();
    await second;
    const [handler] = (await reports.nth(2)).handlers;
    expect(handler?.keyWaitMs).toBeGreaterThan(0);
    const keyWaitMs = Math.round((handler?.keyWaitMs ?? 0) * 10) / 10;
    expect((await lines.nth(2)).fields.handlers).toMatchObject([{ name: 'book', keyWaitMs }]);
  });

  test('the name and the reason of a rerun, each on one line', async () => {
    const { lines, logger } = openLogger();
    const receiver = createLogged(logger).on('*', () => {}, { name: 'book' });
    const entry = handledEntry(createEvent('transfer.succeeded'));
    await receiver.rerun(entry, { handlers: ['book'], run: 'fix\n1', reason: 'a\nbug' });
    await receiver.rerun(entry, { handlers: ['book'], run: 'fix 2' });
    expect(lines.all.map(({ fields }) => [fields.source, fields.rerun])).toEqual([
      ['rerun', { run: 'fix\\u{a}1', reason: 'a\\u{a}bug' }],
      ['rerun', { run: 'fix 2', reason: undefined }],
    ]);
  });

  test('the console: a message and JSON on one line, failures on stderr', async () => {
    const { logger, stdout, stderr } = openConsole();
    const fields = expectedFields(await sendThree(logger));
    expect([stdout.all.length, stderr.all.length]).toEqual([1, 2]);
    const parts = [...stdout.all, ...stderr.all].map((line) => /^([^{]*) (\{.*\})$/.exec(line) ?? []);
    expect(parts.map(([, message]) => message)).toEqual(messages);
    expect(parts.map(([, , json = '']) => JSON.parse(json))).toEqual(fields);
  });

  test('the logger of Fastify', async () => {
    const lines = new Lines();
    const app = fastify({ logger: { stream: lines } });
    onTestFinished(() => app.close());
    const fields = expectedFields(await sendThree(app.log));
    expect(lines.json).toMatchObject(fields.map((each, index) => ({ ...each, msg: messages[index] })));
  });

  test('a logger whose methods need their `this`, and which is changed later', async () => {
    class Prefixed {
      readonly #lines: string[] = [];
      get lines(): string[] {
        return this.#lines;
      }
      info(_fields: object, message: string): void {
        this.#lines.push(message);
      }
      warn(_fields: object, message: string): void {
        this.#lines.push(message);
      }
      error(_fields: object, message: string): void {
        this.#lines.push(message);
      }
    }
    const logger = new Prefixed();
    await sendThree(logger);
    expect(logger.lines).toEqual(messages);
    const { logger: pino, lines } = openPino();
    const receiver = createLogged(pino).on('*', () => {});
    const url = await serve(receiver);
    pino.level = 'warn';
    await deliver(url, createEvent('transfer.created'), { key: KEY });
    pino.level = 'info';
    await deliver(url, createEvent('transfer.created'), { key: KEY });
    expect(lines.all).toHaveLength(1);
  });
});

describe('the level is', () => {
  const last = eventAt(Date.now() - 20 * MINUTE_MS);

  /** Sends an event; resolves with the line that has the outcome. */
  async function lineOf(
    outcome: string,
    options: EndpointOptions,
    register: (receiver: Receiver) => unknown,
    event: object = createEvent('transfer.created'),
  ): Promise<Line> {
    const { lines, logger } = openLogger();
    const receiver = createLogged(logger, options);
    register(receiver);
    await deliver(await serve(receiver), event, { key: KEY });
    return await lines.first(({ fields }) => fields.outcome === outcome);
  }

  const queue = { add: async () => {}, close: async () => {} };
  const failing = (receiver: Receiver): unknown => receiver.on('*', fail);
  const fine = (receiver: Receiver): unknown => receiver.on('*', () => {});

  test('info for what is routine', async () => {
    const queued = (receiver: Receiver): unknown => receiver.on('*', () => {}, { name: 'book', queue: true });
    expect((await lineOf('processed', {}, fine)).level).toBe('info');
    expect((await lineOf('ignored', {}, (receiver) => receiver.on('dispute.won', fail))).level).toBe('info');
    // A copy is a store of another kind: the memory store itself would make the first report warn.
    const store = { ...createMemoryStore() };
    expect((await lineOf('queued', { queue, store }, queued)).level).toBe('info');
    const { lines, logger } = openLogger();
    const receiver = createLogged(logger).on('*', () => {});
    const event = createEvent('transfer.created');
    for (const _time of [1, 2]) await receiver.receive(deliveryOf(event));
    expect(lines.all).toMatchObject([{ level: 'info' }, { level: 'info', fields: { outcome: 'duplicate' } }]);
  });

  test('warn for what wants a look: a retry will come, or nobody was harmed', async () => {
    const put = async () => fail();
    const deadLetters = { ...createMapDeadLetters(), put };
    const warned = await lineOf('processed', { deadLetters }, fine, last);
    expect(warned).toMatchObject({
      level: 'warn',
      fields: { warnings: [expect.stringMatching(/^dead_letter_not_stored: /)], final: true },
    });
    expect((await lineOf('failed', {}, failing)).level).toBe('warn');
    expect((await lineOf('failed', { signingKey: fail }, fine)).level).toBe('warn');
    expect((await lineOf('rejected', { signingKey: 'another' }, fine)).level).toBe('warn');
  });

  test('error for what needs somebody to act: no retry comes, or the program is wrong', async () => {
    expect(await lineOf('parked', {}, failing, last)).toMatchObject({
      level: 'error',
      message: 'posthorn: parked 200 handler_failed',
    });
    expect(await lineOf('failed', { deadLetters: undefined }, failing, last)).toMatchObject({
      level: 'error',
      message: 'posthorn: failed 500 handler_failed ENDPOINT AT RISK',
      fields: { final: true, endpointAtRisk: true },
    });
    const { lines, logger } = openLogger();
    const receiver = createLogged(logger);
    await Reflect.apply(receiver.receive, receiver, [{ method: 'POST', headers: {} }]);
    expect(lines.all).toMatchObject([{ level: 'error', fields: { code: 'configuration_invalid' } }]);
  });

  test('that of the end of a run as well, which is marked as late', async () => {
    const held = new HeldHandler();
    const { lines, logger } = openLogger();
    const receiver = createLogged(logger, { deadlineMs: 100 }).on('*', held.handle);
    await receiver.receive(deliveryOf(createEvent('transfer.created')));
    held.calls.all[0]?.succeed();
    await lines.nth(2);
    expect(lines.all).toMatchObject([
      { level: 'warn', message: 'posthorn: failed 503 deadline_reached' },
      { level: 'info', message: 'posthorn: processed late 200', fields: { late: true } },
    ]);
    expect(lines.all[0]?.fields).not.toHaveProperty('late');
  });
});

describe('nobody forges lines or fields', () => {
  const nasty = 'x"}\n{"level":60}\r\u001b[2J\u202e%s %o\u2028outcome=processed';

  test('by an id, a type, a name, or what a handler throws', async () => {
    const { logger: pino, lines } = openPino();
    const { logger: winston, lines: winstonLines } = openWinston();
    const { logger: console, stderr } = openConsole();
    const receiver = createLogged(pino).on('*', () => Promise.reject(new Error(nasty)), { name: nasty });
    for (const logger of [winston, console]) observeWithLogger(receiver, logger);
    const event = { ...createEvent(`transfer.${nasty}`, undefined, { any: true }), id: nasty };
    await deliver(await serve(receiver), event, { key: KEY });
    for (const { all } of [lines, winstonLines, stderr]) {
      expect(all).toHaveLength(1);
      expect(all[0]).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      const { outcome, event: logged } = JSON.parse(all[0]?.replace(/^[^{]*/, '') ?? '');
      expect([outcome, logged.id]).toEqual(['failed', expect.stringContaining('\\u{a}{"level":60}')]);
    }
    expect(stderr.all[0]).toMatch(/^posthorn: failed 500 handler_failed \{"outcome":"failed"/);
  });

  test('by a header', async () => {
    const { lines, logger } = openLogger();
    const receiver = createLogged(logger).on('*', fail);
    const name = `x-${'a'.repeat(5_000)}-signature`;
    await post(await serve(receiver), '{}', { [name]: '0' });
    expect(lines.all).toMatchObject([{ fields: { code: 'signature_missing' } }]);
    expect(JSON.stringify(lines.all).length).toBeLessThan(2_000);
  });
});

describe('strangers cannot flood the log:', () => {
  const FLOOD = 30;

  beforeEach(() => {
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  });

  async function flooded(logger: Logger): Promise<void> {
    const receiver = createLogged(logger).on('*', () => {});
    for (let count = 0; count < FLOOD; count += 1)
      await receiver.receive(deliveryOf('{}', { 'x-service-signature': ['0'.repeat(64)] }));
  }

  const message = 'posthorn: 25 more deliveries ended with signature_mismatch in the last minute';

  test('five lines a minute for each code, and one that counts the others', async () => {
    const { lines, logger } = openLogger();
    await flooded(logger);
    expect(lines.all.map(({ fields }) => fields.code)).toEqual(Array(5).fill('signature_mismatch'));
    vi.advanceTimersByTime(60_000);
    expect(lines.all.slice(5)).toEqual([
      { level: 'warn', message, fields: { code: 'signature_mismatch', leftOut: 25 } },
    ]);
    vi.advanceTimersByTime(120_000);
    expect(lines.all).toHaveLength(6);
  });

  test('events of the service, and jobs of workers, have all their lines', async () => {
    const { lines, logger } = openLogger();
    const receiver = createLogged(logger).on('*', fail);
    for (let count = 0; count < FLOOD; count += 1) {
      await receiver.receive(deliveryOf(createEvent('dispute.won')));
      await receiver.dispatch('damaged', { attempt: 1, final: false });
    }
    expect(lines.all).toHaveLength(2 * FLOOD);
    expect(lines.all.slice(0, 2)).toMatchObject([
      { fields: { code: 'handler_failed' } },
      { fields: { code: 'job_unreadable', source: 'job' } },
    ]);
    expect(lines.all[0]?.fields).not.toHaveProperty('source');
  });

  test('a logger that fails to take the count ends no process', async () => {
    const { lines, logger } = openLogger();
    let isBroken = false;
    const warn: typeof logger.warn = (fields, text) => {
      if (isBroken) fail();
      logger.warn(fields, text);
    };
    await flooded({ ...logger, warn });
    isBroken = true;
    vi.advanceTimersByTime(60_000);
    await vi.waitFor(() => expect(printed()).toEqual(['posthorn: an observer failed: no booking today']));
    expect(lines.all).toHaveLength(5);
  });
});

describe('a logger that', () => {
  const faults: readonly {
    readonly name: string;
    readonly write: () => unknown;
    readonly isTold: boolean;
  }[] = [
    { name: 'throws', write: fail, isTold: true },
    { name: 'rejects', write: () => Promise.reject(new Error('no booking today')), isTold: true },
    { name: 'hangs', write: () => new Promise(() => {}), isTold: false },
  ];
  for (const { name, write, isTold } of faults) {
    test(`${name} changes no answer and stops no other observer`, async () => {
      const seen: string[] = [];
      const receiver = createLogged({ info: write, warn: write, error: write }).on('*', () => {});
      receiver.observe(({ outcome }) => seen.push(outcome));
      const url = await serve(receiver);
      expect((await deliver(url, createEvent('transfer.created'), { key: KEY })).status).toBe(200);
      expect((await deliver(url, '{}', forged)).status).toBe(403);
      expect(seen).toEqual(['processed', 'rejected']);
      const told = Array(isTold ? 2 : 0).fill('posthorn: an observer failed: no booking today');
      await vi.waitFor(() => expect(printed()).toEqual(told));
      expect(await receiver.close()).toEqual({ abandoned: [] });
    });
  }

  test('loses a method later changes no answer', async () => {
    const { logger } = openLogger();
    const receiver = createLogged(logger).on('*', () => {});
    Reflect.deleteProperty(logger, 'info');
    const response = await deliver(await serve(receiver), createEvent('transfer.created'), { key: KEY });
    expect(response.status).toBe(200);
    expect(printed()).toEqual([expect.stringMatching(/^posthorn: an observer failed: .*not a function/)]);
  });

  test('lacks a method is refused at once, and the error names the method', () => {
    const { logger } = openLogger();
    const wrong: readonly [string, unknown][] = [
      ['info', undefined],
      ['info', null],
      ['info', 'console'],
      ['info', { log: fail, warn: fail, error: fail }],
      ['warn', createLogger({ levels: { error: 0, warning: 1, info: 2 }, silent: true })],
      ['error', { ...logger, error: 'error' }],
      ['info', revoked()],
    ];
    for (const [method, value] of wrong) {
      const observe = vi.fn();
      expect(() => Reflect.apply(observeWithLogger, undefined, [{ observe }, value])).toThrow(
        expect.objectContaining(errorOf('configuration_invalid', `lacks the method ${method}()`)),
      );
      expect(observe).not.toHaveBeenCalled();
    }
    expect(() => Reflect.apply(observeWithLogger, undefined, [logger, createUnobserved()])).toThrow(
      /^observeWithLogger takes a receiver, which createReceiver returns; got \w+$/,
    );
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test('a wrapper of any other logger gets typed fields and the message', async () => {
  const seen: string[] = [];
  const nest = { log: (text: string, about: object) => seen.push(text, JSON.stringify(about)) };
  const receiver = createLogged({
    info: (fields, message) => nest.log(message, { ...fields, event: fields.event?.id }),
    warn: (fields, message) => nest.log(message, fields),
    error: (fields, message) => nest.log(message, fields),
  }).on('*', () => {});
  const event = createEvent('transfer.created');
  await receiver.receive(deliveryOf(event));
  expect(seen).toEqual(['posthorn: processed 200', expect.stringContaining(`"event":"${event.id}"`)]);
});
