import { createReceiver, type HandlerContext, type Rerun } from 'posthorn';
import { github } from 'posthorn/providers';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { handledEntry } from '../../../support/handled-entry.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { accepted, openDirectly } from '../../../support/open-endpoint.ts';
import { KEY } from '../../../support/served.ts';
import { StepClock } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';
import { openJournaledDirectly } from '../../journal/journaled.ts';
import { openCounting } from './counting.ts';
import { FIX, handledIn } from './rerunning.ts';

const event = createEvent('transfer.succeeded');
const reason = 'amounts were wrong by a factor of 100';

describe('a handler of an event that was delivered', () => {
  /** The entry that the journal has of a delivery. */
  async function entryOfDelivery() {
    const { onlyEntry, send } = openJournaledDirectly({}, (receiver) =>
      receiver.on('*', () => {}, { name: 'book' }),
    );
    expect(await send(event)).toEqual(accepted('processed', event.id));
    return onlyEntry();
  }

  test('runs once more, from the entry of the journal', async () => {
    const entry = await entryOfDelivery();
    const clock = new StepClock();
    const { receiver, reports, runs } = openCounting({ now: clock.now, maxRunMs: 240_000 });
    const report = await receiver.rerun(entry, { ...FIX, reason });
    expect(report).toMatchObject({
      outcome: 'processed',
      status: 200,
      source: 'rerun',
      rerun: { run: 'fix', reason },
      event: { id: event.id, type: event.type },
      attempt: 1,
      final: true,
      late: false,
      answerSent: false,
      endpointAtRisk: false,
      warnings: [],
      handlers: [{ name: 'book', ok: true }],
    });
    expect(reports.all).toHaveLength(1);
    expect(runs).toMatchObject([
      [
        event.id,
        {
          attempt: 1,
          final: true,
          receivedAt: entry.firstReceivedAt,
          deadlineAt: clock.startedAt + 240_000,
          rawBody: Buffer.from(JSON.stringify(event)),
          rerun: { run: 'fix', reason },
        },
      ],
    ]);
  });

  test('writes nothing to the journal', async () => {
    const { entries, receiver } = openJournaledDirectly({}, (opened) =>
      opened.on('*', () => {}, { name: 'book' }),
    );
    expect(await receiver.rerun(await entryOfDelivery(), FIX)).toMatchObject({ outcome: 'processed' });
    expect(await entries()).toEqual([]);
  });
});

test('a delivery knows of no rerun', async () => {
  const { runs, send } = openCounting();
  await send(event);
  expect(runs[0]?.[1]).not.toHaveProperty('rerun');
});

test('no other handler runs, and middlewares see where the event came from', async () => {
  const seen: unknown[] = [];
  const { receiver } = openDirectly({}, (opened) =>
    opened
      .use((_event, { handler, rerun, source }, next) => {
        seen.push([handler.name, source, rerun?.run]);
        return next();
      })
      .on('*', throwing('it ran'), { name: 'mail' })
      .on('*', throwing('it ran'))
      .on('*', () => {}, { name: 'book' })
      .onUnhandled(throwing('it ran')),
  );
  const entry = handledEntry(event, { handled: ['mail', 'book'] });
  expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed' });
  expect(seen).toEqual([['book', 'rerun', 'fix']]);
});

test('the handler gets the output of the schema, and data that this refuses fails', async () => {
  const amounts: unknown[] = [];
  const transfer = z.object({ id: z.string(), amount: z.number().transform((cents) => cents / 100) });
  const receiver = createReceiver({ signingKey: KEY, schemas: { transfer } })
    .observe(() => {})
    .on('transfer.*', ({ data }) => void amounts.push(data.amount), { name: 'book' });
  const priced = createEvent('transfer.succeeded', { id: 'TR1', amount: 1250 });
  expect(await receiver.rerun(handledEntry(priced), FIX)).toMatchObject({ outcome: 'processed' });
  expect(amounts).toEqual([12.5]);
  const unpriced = createEvent('transfer.succeeded', { id: 'TR2', amount: 'none' });
  expect(await receiver.rerun(handledEntry(unpriced), FIX)).toMatchObject({
    outcome: 'failed',
    code: 'data_invalid',
  });
});

test('an event of an account has the key of that account', async () => {
  const keys: string[] = [];
  const { receiver } = openDirectly({ account: () => 'm1' }, (opened) =>
    opened.on('*', (_event, context) => void keys.push(context.event.key), { name: 'book' }),
  );
  for (const account of ['m1', 'm2', 'm1'])
    expect(await receiver.rerun(handledEntry(event, { account }), FIX)).toMatchObject({ event: { account } });
  expect(new Set(keys).size).toBe(2);
  expect(keys).toHaveLength(2);
});

test('the sender may name the event in headers', async () => {
  const contexts: HandlerContext[] = [];
  const receiver = createReceiver({ signingKey: KEY, provider: github() })
    .observe(() => {})
    .on('pull_request.*', (_event, context) => void contexts.push(context), { name: 'book' });
  const entry = handledEntry(
    { id: 'd-1', type: 'pull_request.opened' },
    {
      provider: 'github',
      rawBody: Buffer.from('{"action":"opened","number":7}'),
      headers: { 'x-github-delivery': ['d-1'], 'x-github-event': ['pull_request'] },
    },
  );
  expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed' });
  expect(contexts).toMatchObject([{ event: { id: 'd-1', type: 'pull_request.opened' } }]);
  expect(await receiver.rerun({ ...entry, headers: undefined }, { handlers: ['book'] })).toMatchObject({
    code: 'envelope_invalid',
  });
});

describe('several handlers', () => {
  const both = { handlers: ['mail', 'book'], run: 'fix' };
  const entry = handledEntry(event, { handled: ['book', 'mail'] });

  /** The handlers "book" and "mail", which note when they begin and end. */
  function openTwo(mail: () => unknown = () => {}) {
    const steps: string[] = [];
    const opened = openDirectly({}, (receiver) =>
      receiver
        .on('*', () => void steps.push('book'), { name: 'book' })
        .on(
          '*',
          async () => {
            steps.push('mail begins');
            await new Promise((resolve) => setImmediate(resolve));
            steps.push('mail ends');
            return mail();
          },
          { name: 'mail' },
        ),
    );
    return { ...opened, steps };
  }

  test('run one after the other, in the order of the names, and have a report each', async () => {
    const { receiver, reports, steps } = openTwo();
    const report = await receiver.rerun(entry, both);
    expect(steps).toEqual(['mail begins', 'mail ends', 'book']);
    expect(report).toMatchObject({
      outcome: 'processed',
      handlers: [
        { name: 'mail', ok: true },
        { name: 'book', ok: true },
      ],
    });
    expect(reports.all.map(({ handlers }) => handlers.map(({ name }) => name))).toEqual([['mail'], ['book']]);
    const runs: (Rerun | undefined)[] = reports.all.map(({ rerun }) => rerun);
    expect(runs).toEqual([{ run: 'fix' }, { run: 'fix' }]);
    const sumMs = reports.all.reduce((sum, { durationMs }) => sum + durationMs, 0);
    expect(report.durationMs).toBe(sumMs);
  });

  test('of which one fails all run, and the failure is the outcome', async () => {
    const { receiver, reports, steps } = openTwo(throwing('no mail server'));
    const report = await receiver.rerun(entry, both);
    expect(report).toMatchObject({
      outcome: 'failed',
      code: 'handler_failed',
      handlers: [
        { name: 'mail', ok: false },
        { name: 'book', ok: true },
      ],
    });
    expect(steps).toContain('book');
    expect(reports.all.map(({ outcome }) => outcome)).toEqual(['failed', 'processed']);
  });

  test('of which one is busy and one fails: the failure is the outcome', async () => {
    const held = new HeldHandler();
    const { receiver, reports } = openDirectly({ store: await handledIn(event) }, (opened) =>
      opened.on('*', held.handle, { name: 'mail' }).on('*', throwing('no database'), { name: 'book' }),
    );
    const other = receiver.rerun(entry, { handlers: ['mail'] });
    const call = await held.calls.nth(1);
    expect(await receiver.rerun(entry, both)).toMatchObject({
      outcome: 'failed',
      status: 500,
      code: 'handler_failed',
    });
    expect(reports.all.map(({ outcome }) => outcome)).toEqual(['busy', 'failed']);
    call.succeed();
    expect(await other).toMatchObject({ outcome: 'processed' });
  });

  test('of which one has run before: the other runs, and the outcome is processed', async () => {
    const { receiver, reports, steps } = openTwo();
    await receiver.rerun(entry, { handlers: ['mail'], run: 'fix' });
    expect(await receiver.rerun(entry, both)).toMatchObject({ outcome: 'processed', status: 200 });
    expect(steps).toEqual(['mail begins', 'mail ends', 'book']);
    expect(reports.all.map(({ outcome }) => outcome)).toEqual(['processed', 'duplicate', 'processed']);
    expect(await receiver.rerun(entry, both)).toMatchObject({ outcome: 'duplicate' });
  });

  test('of which one is named twice run once each', async () => {
    const { receiver, reports, steps } = openTwo();
    await receiver.rerun(entry, { handlers: ['book', 'mail', 'book'] });
    expect(steps).toEqual(['book', 'mail begins', 'mail ends']);
    expect(reports.all).toHaveLength(2);
  });
});
