import { type AnyEvent, catalog, createReceiver, type Receiver, type Report } from 'posthorn';
import { observeWithLogger } from 'posthorn/logger';
import { toNode } from 'posthorn/node';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { errorCodes } from '../../src/receiver/error-codes.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { outcomes } from '../support/outcomes.ts';
import { usePrintedErrors } from '../support/printed-errors.ts';
import { Seen } from '../support/seen.ts';
import { KEY } from '../support/served.ts';
import { MINUTE_MS } from '../support/step-clock.ts';
import { openConsole, openPino, openWinston } from './log-sinks.ts';
import { basic, bearer, leakyError, leavesOf, payload, secretsIn } from './secrets.ts';
import type { Place, Situation } from './situation.ts';
import { situations } from './situations.ts';

const { printed } = usePrintedErrors();

/** Serves a receiver, and notes each signature that reaches it. */
async function open(
  { options, middleware, register = (receiver) => receiver.on('*', () => {}, { name: 'book' }) }: Situation,
  observe: (receiver: Receiver) => void,
): Promise<Place & { readonly signatures: string[] }> {
  const authentication = [basic, bearer];
  const receiver = createReceiver({ signingKey: KEY, authentication, ...options?.() });
  observe(receiver);
  const held = new HeldHandler();
  register(receiver, held);
  const handle = toNode(receiver, { path: '/webhooks' });
  const signatures: string[] = [];
  onTestFinished(async () => {
    for (const call of held.calls.all) call.succeed();
    await receiver.close({ graceMs: 0 });
  });
  const origin = await listenUntilTheEnd((incoming, outgoing) => {
    const { 'x-service-signature': own = [], 'x-other-signature': other = [] } = incoming.headersDistinct;
    signatures.push(...own, ...other);
    if (middleware === undefined) handle(incoming, outgoing);
    else middleware(incoming, () => handle(incoming, outgoing));
  });
  const url = `${origin}/webhooks`;
  const send: Place['send'] = async (body, sent) =>
    (await deliver(url, body, { key: KEY, authentication: basic, ...sent })).status;
  return { url, receiver, held, send, signatures };
}

/** Opens all loggers on a receiver, and what writes the reports themselves as JSON. */
function watch() {
  const reports = new Seen<Report>();
  const pino = openPino();
  const winston = openWinston();
  const console = openConsole();
  const json: string[] = [];
  const observe = (receiver: Receiver): void => {
    for (const { logger } of [pino, winston, console]) observeWithLogger(receiver, logger);
    receiver.observe((report) => {
      json.push(JSON.stringify(report));
      reports.add(report);
    });
  };
  const linesOf = () => ({
    pino: pino.lines.all,
    winston: winston.lines.all,
    console: [...console.stdout.all, ...console.stderr.all],
    json,
  });
  return { observe, reports, linesOf };
}

const has = (report: Report, expected: Partial<Report>): boolean => {
  try {
    expect(report).toMatchObject(expected);
    return true;
  } catch {
    return false;
  }
};

test('there is a situation for every outcome and every code of a report', () => {
  const never = new Set<string>(['permanent', 'lease_lost', 'completed_elsewhere']);
  const { DeadLetterError, InboxError, JournalError, ServiceError, RefusedError, ...ofReports } = errorCodes;
  const codes = Object.values(ofReports)
    .flat()
    .filter((code) => !never.has(code));
  expect(new Set(situations.flatMap(({ expected }) => expected.code ?? []))).toEqual(new Set(codes));
  expect(new Set(situations.map(({ expected }) => expected.outcome))).toEqual(new Set(outcomes));
});

describe('no secret and no payload is in the lines, nor in the JSON of the report:', () => {
  test.each(situations)('$name', async (situation) => {
    const { observe, reports, linesOf } = watch();
    const place = await open(situation, observe);
    await situation.run(place);
    const report = await reports.first((each) => has(each, situation.expected));
    const lines = linesOf();
    for (const [sink, all] of Object.entries(lines)) {
      const about = all.filter((line) => line.includes(report.code ?? report.outcome));
      expect(about.length, sink).toBeGreaterThan(0);
      expect(secretsIn(all.join('\n'), place.signatures), sink).toEqual([]);
    }
    expect(printed()).toEqual([]);
  });
});

describe('nor in the default log:', () => {
  const routine = [
    'processed',
    'handshake',
    'duplicate',
    'queued',
    'processed late',
    'replayed',
    'accepted',
    'run once more',
  ];

  test.each(situations.filter(({ name }) => !routine.includes(name)))('$name', async (situation) => {
    const place = await open(situation, () => {});
    await situation.run(place);
    const { code, outcome } = situation.expected;
    const word = outcome === 'ignored' ? 'wants events' : (code ?? 'dead_letter_not_stored');
    await vi.waitFor(() => expect(printed().join('\n')).toContain(word), { timeout: 10_000 });
    expect(secretsIn(printed().join('\n'), place.signatures)).toEqual([]);
  });
});

/** An event with sample data, whose amount has more digits than any group of an id, or duration. */
function createSample(type: string): AnyEvent {
  const event: AnyEvent = createEvent(type, undefined, { any: true });
  return { ...event, data: { ...event.data, amount: 2_718_281_828_459 } };
}

test('no value in the data of any event of the catalog, whatever becomes of it', async () => {
  const { observe, reports, linesOf } = watch();
  const deadLetters = createMapDeadLetters();
  const situation: Situation = {
    name: 'any',
    expected: {},
    options: () => ({ deadLetters }),
    register: (receiver) =>
      receiver.on('*', ({ id, data }) => {
        if (!id.startsWith('good')) throw Object.assign(leakyError('no booking'), { data, rows: [data] });
      }),
    run: async () => {},
  };
  const { send, signatures } = await open(situation, observe);
  const types = Object.entries(catalog).flatMap(([entity, names]) =>
    names.map((name) => `${entity}.${name}`),
  );
  const values: string[] = [];
  for (const type of types) {
    for (const event of [
      createSample(type),
      createEvent(type, { ...payload, id: `${type}-9d8c` }, { any: true }),
    ]) {
      const parked = { ...event, created_at: new Date(Date.now() - 20 * MINUTE_MS).toISOString() };
      const sent = [{ ...event, id: `good-${event.id}` }, event, { ...parked, id: `old-${event.id}` }];
      for (const each of sent) {
        await send(each);
        signatures.push(...Object.values(signedHeaders(JSON.stringify(each), { key: KEY })).slice(1));
        values.push(Buffer.from(JSON.stringify(each)).toString('base64').slice(0, 60));
      }
      values.push(...leavesOf(event.data));
    }
  }
  expect(new Set(reports.all.map(({ outcome }) => outcome))).toEqual(
    new Set(['processed', 'failed', 'parked']),
  );
  for (const [sink, all] of Object.entries(linesOf())) {
    expect(all.length, sink).toBe(types.length * 6);
    expect(secretsIn(all.join('\n'), [...values, ...signatures]), sink).toEqual([]);
  }
});

describe('the search for secrets finds them', () => {
  const bytes = Buffer.from(`{"iban":"${payload.iban}"}`);
  test.each([
    ['as they are', `detail=${payload.iban}`],
    ['in JSON', JSON.stringify({ error: { name: payload.name } })],
    ['as a number', JSON.stringify({ amount: payload.amount })],
    ['in base64, beside others', bytes.toString('base64')],
    ['in base64, beside others', bytes.subarray(1).toString('base64')],
    ['in base64 for URLs, beside others', bytes.subarray(2).toString('base64url')],
    ['in hex', bytes.toString('hex')],
  ])('%s', (_name, text) => {
    expect(secretsIn(text, [])).toHaveLength(1);
  });

  test('and no number within another', () => {
    expect(secretsIn('17951250 12.1250', ['1250'])).toEqual([]);
  });

  test('and none of the sample data in an id or a duration', () => {
    const line = 'evt_0f160837-1250-4c1d-8a2b-1250cafe1250 processed in 1250 ms';
    expect(secretsIn(line, leavesOf(createSample('transfer.created').data))).toEqual([]);
    expect(secretsIn('amount-2718281828459', leavesOf(createSample('transfer.created').data))).toHaveLength(
      1,
    );
  });
});
