import { ConfigurationError, createMemoryStore, createReceiver, type Report } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTimers } from '../../support/fake-time.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { on, openDirectly, openEndpoint } from '../../support/open-endpoint.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { KEY, serve } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { createUnobserved } from '../../support/unobserved-receiver.ts';

const store = createMemoryStore();

const { printed, clear } = usePrintedErrors();

const fail = throwing('no booking today');

describe('an observer', () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const thrown: readonly { name: string; value: unknown }[] = [
    { name: 'an error', value: new Error('observer down') },
    { name: 'undefined', value: undefined },
    { name: 'null', value: null },
    { name: 'text', value: 'observer down' },
    { name: 'a symbol', value: Symbol('down') },
    { name: 'an object without a prototype', value: Object.create(null) },
    { name: 'a circular object', value: circular },
    { name: 'an error whose message is an object', value: Object.assign(new Error(), { message: { a: 1 } }) },
    { name: 'an error without a message', value: Object.assign(new Error(), { message: undefined }) },
  ];
  for (const { name, value } of thrown) {
    test(`that throws or rejects with ${name} changes no answer, stops no other, and is told of`, async () => {
      const reports: Report[] = [];
      const receiver = createUnobserved()
        .on('*', () => {})
        .observe(() => {
          throw value;
        })
        .observe(() => Promise.reject(value))
        .observe((report) => reports.push(report));
      const response = await deliver(await serve(receiver), createEvent('transfer.created'), { key: KEY });
      expect([response.status, await response.json()]).toMatchObject([200, { outcome: 'processed' }]);
      expect(reports).toHaveLength(1);
      await vi.waitFor(() => expect(printed()).toHaveLength(2));
      for (const line of printed()) expect(line).toMatch(/^posthorn: an observer failed: [^\n]+$/);
    });
  }

  test('that is no function throws at once, and not into the log at each delivery', () => {
    const receiver = createUnobserved();
    for (const observer of [undefined, null, {}, 'log']) {
      expect(() => Reflect.apply(receiver.observe, receiver, [observer])).toThrow(ConfigurationError);
    }
  });

  test('that hangs delays no answer', async () => {
    const receiver = createUnobserved()
      .on('*', () => {})
      .observe(() => new Promise(() => {}));
    const url = await serve(receiver);
    for (const attempt of [1, 2, 3]) {
      const response = await deliver(url, createEvent('transfer.created'), { key: KEY });
      expect(response.status, `attempt ${attempt}`).toBe(200);
    }
    expect(await receiver.close()).toEqual({ abandoned: [] });
  });

  test('is told of everything once, and nothing goes to the console', async () => {
    const reports: Report[] = [];
    const receiver = createUnobserved()
      .on('transfer.created', () => {}, { name: 'book' })
      .on('dispute.won', fail)
      .observe((report) => reports.push(report));
    const url = await serve(receiver);
    const good = createEvent('transfer.created');
    const bad = createEvent('dispute.won');
    for (const event of [good, good, bad, createEvent('dispute.lost')])
      await deliver(url, event, { key: KEY });
    await deliver(url, good, { key: 'other' });
    expect(reports).toMatchObject([
      {
        outcome: 'processed',
        status: 200,
        event: { id: good.id, type: good.type },
        attempt: 1,
        final: false,
      },
      { outcome: 'duplicate', status: 200, event: { id: good.id, type: good.type } },
      { outcome: 'failed', status: 500, code: 'handler_failed', event: { id: bad.id, type: bad.type } },
      { outcome: 'ignored', status: 200 },
      { outcome: 'rejected', status: 403, code: 'signature_mismatch' },
    ]);
    expect(reports[0]?.handlers).toEqual([{ name: 'book', ok: true, durationMs: expect.any(Number) }]);
    expect(reports[2]?.handlers).toEqual([{ name: undefined, ok: false, durationMs: expect.any(Number) }]);
    expect(reports[2]?.error?.cause).toMatchObject({ message: 'no booking today' });
    for (const report of reports) {
      expect(report).toMatchObject({ late: false, answerSent: true, endpointAtRisk: false, warnings: [] });
      expect(Math.abs(Date.now() - report.receivedAt)).toBeLessThan(60_000);
      expect(report.durationMs).toBeGreaterThanOrEqual(0);
    }
    expect(printed()).toEqual([]);
  });
});

test.each([
  { name: 'an adapter that cannot tell', isConnected: undefined, answerSent: true },
  { name: 'an adapter whose sender is there', isConnected: () => true, answerSent: true },
  { name: 'an adapter whose sender has hung up', isConnected: () => false, answerSent: false },
])('the report of $name has answerSent: $answerSent', async ({ isConnected, answerSent }) => {
  const { receiver, reports } = openDirectly({ store });
  await receiver.receive({ ...deliveryOf(createEvent('transfer.created')), isConnected });
  expect(reports.all).toMatchObject([{ outcome: 'processed', answerSent }]);
});

describe('without an observer', () => {
  test('success prints nothing: processed and duplicate', async () => {
    const url = await serve(createUnobserved().on('transfer.created', () => {}));
    const event = createEvent('transfer.created');
    for (const sent of [event, event]) {
      expect(await deliver(url, sent, { key: KEY })).toMatchObject({ status: 200 });
    }
    expect(printed()).toEqual([]);
  });

  test('a failure prints one line that names the event and the code', async () => {
    const url = await serve(createUnobserved().on('*', fail));
    const event = createEvent('transfer.created', { iban: 'DE02120300000000202051', amount: 4711 });
    await deliver(url, event, { key: KEY });
    const [line, ...more] = printed();
    expect(more).toEqual([]);
    expect(line).toMatch(/^posthorn: failed 500 /);
    for (const part of [event.id, event.type, 'handler_failed', 'no booking today']) {
      expect(line).toContain(part);
    }
    expect(line).not.toMatch(/DE0212|4711/);
  });

  test('what a sender or a handler wrote stays on its line and drives no terminal', async () => {
    const hostile = '\n\r\u001b[31m\u0000\u0007\u0085\u2028\u2029\u202e\u200f\ufeff\u007f\u009b2J';
    const receiver = createUnobserved().on(
      '*',
      throwing(new Error(`failed${hostile}posthorn: processed 200`)),
    );
    const url = await serve(receiver);
    const event = { ...createEvent('transfer.created'), id: `evt${hostile}posthorn: forged` };
    await deliver(url, event, { key: KEY });
    await deliver(url, { ...event, id: 'evt_2', type: `transfer.created${hostile}` }, { key: KEY });
    await deliver(url, `{"id":${JSON.stringify(event.id)}}`, { key: KEY });
    expect(printed().length).toBeGreaterThanOrEqual(3);
    for (const line of printed()) {
      expect(line).toMatch(/^posthorn: /);
      expect(line, JSON.stringify(line)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }
    expect(printed()[0]).toContain('evt\\u{a}');
  });

  test('a line is of bounded length, whatever the id and the message', async () => {
    const receiver = createUnobserved().on('*', throwing(new Error('m'.repeat(500_000))));
    const url = await serve(receiver);
    await deliver(url, { ...createEvent('transfer.created'), id: 'i'.repeat(500_000) }, { key: KEY });
    expect(printed()).toHaveLength(1);
    expect(printed()[0]?.length).toBeLessThan(5_000);
  });

  test('nothing of the payload, the credentials or the key is printed', async () => {
    const authentication = { type: 'BASIC', basic: { username: 'user', password: 'pa55word' } } as const;
    const url = await serve(createUnobserved({ authentication }).on('*', () => {}));
    const secret =
      '{"data":{"pan":"4111111111111111"},"id":5,"type":"4111111111111111","created_at":"4111111111111111"}';
    const broken = '{"pan": 4111111111111111 oops';
    for (const body of [secret, broken]) await deliver(url, body, { key: KEY, authentication });
    const wrong = { type: 'BASIC', basic: { username: 'user', password: 'wr0ng' } } as const;
    await deliver(url, secret, { key: KEY, authentication: wrong });
    await deliver(url, secret, { key: 'other', authentication });
    expect(printed().length).toBeGreaterThanOrEqual(4);
    const text = printed().join('\n');
    for (const word of ['4111', 'pa55word', 'wr0ng', KEY]) expect(text).not.toContain(word);
    expect(text).not.toContain(Buffer.from('user:pa55word').toString('base64'));
  });

  test('a console that throws costs no delivery its answer', async () => {
    vi.spyOn(console, 'error').mockImplementation(throwing('EPIPE'));
    const url = await serve(createUnobserved().on('*', fail));
    expect(await deliver(url, createEvent('transfer.created'), { key: KEY })).toMatchObject({ status: 500 });
    expect(printed()).toHaveLength(1);
  });

  test('rejections are printed at a limited rate, failures never held back', async () => {
    // Or the line that counts those left out would come in a later test, after a minute.
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const url = await serve(createUnobserved().on('*', fail));
    for (let count = 0; count < 40; count += 1) await deliver(url, '{}', { key: 'other' });
    const rejected = printed();
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThan(20);
    for (const line of rejected) expect(line).toMatch(/^posthorn: rejected 403 signature_mismatch/);
    clear();
    for (let count = 0; count < 20; count += 1) {
      await deliver(url, createEvent('transfer.created'), { key: KEY });
    }
    expect(printed()).toHaveLength(20);
  });
});

describe('without dead letters', () => {
  test('the first report warns, and no other', async () => {
    const { url, reports } = await openEndpoint({ store });
    for (const key of ['other', KEY, KEY]) await deliver(url, createEvent('transfer.created'), { key });
    expect(reports.all.map(({ warnings }) => warnings)).toEqual([
      [expect.stringMatching(/^dead_letters_missing: /)],
      [],
      [],
    ]);
  });

  test('without an observer the warning is printed once, even beside a success', async () => {
    const url = await serve(createReceiver({ signingKey: KEY, store }).on('*', () => {}));
    expect(printed(), 'nothing before the first delivery').toEqual([]);
    for (let count = 0; count < 3; count += 1) {
      await deliver(url, createEvent('transfer.created'), { key: KEY });
    }
    expect(printed()).toEqual([
      expect.stringMatching(/^posthorn: dead_letters_missing: without the option /),
    ]);
  });

  test('a receiver with dead letters never warns', async () => {
    const warnings: string[] = [];
    const receiver = createUnobserved().on('*', () => {});
    receiver.observe((report) => warnings.push(...report.warnings));
    await deliver(await serve(receiver), createEvent('transfer.created'), { key: KEY });
    expect(warnings).toEqual([]);
  });
});

test('a waitUntil that throws changes no answer, and is warned of', async () => {
  const held = new HeldHandler();
  const { receiver, reports } = openDirectly({ store, deadlineMs: 50 }, on('*', held.handle));
  const waitUntil = throwing('no request here');
  const delivery = { ...deliveryOf(createEvent('dispute.won')), waitUntil };
  expect(await receiver.receive(delivery)).toMatchObject({ status: 503 });
  const warnings = expect.arrayContaining([expect.stringMatching(/waitUntil .* threw: no request here;/)]);
  expect(reports.all).toMatchObject([{ status: 503, code: 'deadline_reached', late: false, warnings }]);
  (await held.calls.nth(1)).succeed();
  await expect.poll(() => reports.all).toMatchObject([{ late: false }, { outcome: 'processed', late: true }]);
});
