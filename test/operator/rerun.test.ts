import type { Report } from 'posthorn';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { pause } from '../../src/receiver/timing/process-clock.ts';
import { fakeTime, passUntil } from '../support/fake-time.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { fetchOperator } from './mounts.ts';
import { createOperated, idOf, NOW, record } from './operated.ts';

const RERUN = '/api/events/rerun';
const rerun = { handlers: ['book'], run: 'mend' };

const records = (count: number) => Array.from({ length: count }, (_, index) => record(index + 1));

function open(given = records(3), handle?: (event: { readonly id: string }) => unknown) {
  const operated = createOperated({ records: given, ...(handle && { handle }) });
  return { ...operated, ask: fetchOperator(operated.receiver) };
}

describe('a rerun', () => {
  test('runs the handlers of events once more, and once under its name', async () => {
    const { ask, handled } = open();
    const body = { ...rerun, ids: [1, 3].map(idOf) };
    const ended = (outcome: string) =>
      [1, 3].map((n) => ({ id: idOf(n), type: 'transfer.succeeded', outcome }));
    expect((await ask(RERUN, { body })).body).toEqual({ results: ended('processed') });
    expect((await ask(RERUN, { body })).body).toEqual({ results: ended('done') });
    expect(handled).toEqual([1, 3].map(idOf));
    // A rerun that was done is not reported again.
    expect((await ask('/api/deliveries')).body.deliveries).toHaveLength(2);
    await ask(RERUN, { body: { ...body, run: 'again' } });
    expect(handled).toHaveLength(4);
  });

  test('of a selection is done in portions of 20, until the end', async () => {
    const { ask, handled } = open(records(45));
    const sizes: unknown[] = [];
    let next: object | undefined = { ...rerun, reason: 'wrong account', selection: { type: 'transfer.*' } };
    while (next !== undefined) {
      const { body }: Awaited<ReturnType<typeof ask>> = await ask(RERUN, { body: next });
      sizes.push(body.results?.length);
      next = body.next;
      if (sizes.length === 1)
        expect(next).toEqual({
          ...{ ...rerun, reason: 'wrong account', after: idOf(20) },
          selection: { type: 'transfer.*', until: NOW },
        });
    }
    expect(sizes).toEqual([20, 20, 5]);
    expect(handled).toEqual(records(45).map(({ id }) => id));
  });

  test('of more than 20 ids gives back the others', async () => {
    const { ask, handled } = open(records(25));
    const ids = records(25).map(({ id }) => id);
    expect((await ask(RERUN, { body: { ...rerun, ids } })).body.next).toEqual({
      ...rerun,
      ids: ids.slice(20),
    });
    expect(handled).toEqual(ids.slice(0, 20));
  });

  test('tells which events it could not run', async () => {
    const { ask } = open([record(1, { handled: [] }), record(2, { provider: 'stripe' }), record(3)], () => {
      throw new Error('still locked');
    });
    const { body } = await ask(RERUN, { body: { ...rerun, ids: [1, 2, 3, 4].map(idOf) } });
    expect(body.results).toMatchObject([
      { id: idOf(1), code: 'handler_unfinished' },
      { id: idOf(2), code: 'provider_mismatch' },
      {
        id: idOf(3),
        outcome: 'failed',
        code: 'handler_failed',
        message: expect.stringContaining('still locked'),
      },
      { id: idOf(4), outcome: 'missing' },
    ]);
  });
});

describe('a report of a rerun', () => {
  /** Serves a receiver whose rerun ends with the report of another one, changed. */
  async function openWith(changes: Partial<Report>) {
    const { receiver } = createOperated({ records: records(1) });
    const report = await receiver.rerun(record(1), { handlers: ['book'], run: 'before' });
    const rerunOnce = vi.spyOn(receiver, 'rerun').mockResolvedValue({ ...report, ...changes });
    onTestFinished(() => void rerunOnce.mockRestore());
    return fetchOperator(receiver);
  }

  const skippedBy = (skipped: 'handled_before' | 'superseded') => [
    { name: 'mail', ok: true, durationMs: 1 },
    { name: 'book', ok: true, durationMs: 1, skipped },
  ];

  test.each([
    ['superseded', { handlers: skippedBy('superseded') }],
    ['processed', { handlers: skippedBy('handled_before') }],
    ['done', { outcome: 'duplicate' }],
    ['busy', { outcome: 'busy' }],
  ] as const)('becomes %s', async (outcome, changes) => {
    const ask = await openWith(changes);
    const { body } = await ask(RERUN, { body: { ...rerun, ids: [idOf(1)] } });
    expect(body.results).toEqual([{ id: idOf(1), type: 'transfer.succeeded', outcome }]);
  });
});

test('a rerun that takes longer than 20 seconds goes on after the answer', async () => {
  const pass = fakeTime();
  const { ask, handled } = open(records(3), () => pause(12_000));
  const { body } = await passUntil(pass, ask(RERUN, { body: { ...rerun, selection: {} } }));
  expect(body.results?.map(({ outcome }) => outcome)).toEqual(['processed', 'running']);
  expect(body.next).toMatchObject({ after: idOf(2) });
  await pass(5_000);
  const again = await ask(RERUN, { body: { ...rerun, ids: [1, 2].map(idOf) } });
  expect(again.body.results?.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  expect(handled).toEqual([1, 2].map(idOf));
});

describe('the dry run of a rerun', () => {
  test('counts what would be done, of all portions, and does nothing', async () => {
    const { ask, handled, log } = open([
      ...records(41),
      record(42, { handled: [] }),
      record(43, { handled: [] }),
      record(44, { provider: 'stripe' }),
    ]);
    await ask(RERUN, { body: { ...rerun, ids: [idOf(1)] } });
    const before = [handled.length, log.mock.calls.length];
    expect((await ask(RERUN, { body: { ...rerun, selection: {}, dryRun: true } })).body).toEqual({
      dryRun: true,
      count: 40,
      counts: [
        { prospect: 'done', count: 1 },
        { prospect: 'wouldRun', count: 40 },
        { prospect: 'refused', code: 'handler_unfinished', count: 2 },
        { prospect: 'refused', code: 'provider_mismatch', count: 1 },
      ],
      selection: { until: NOW },
    });
    expect([handled.length, log.mock.calls.length]).toEqual(before);
  });

  test('counts the ids that are given, each once', async () => {
    const ids = [1, 2, 9, 1, 9].map(idOf);
    expect((await open().ask(RERUN, { body: { ...rerun, ids, dryRun: true } })).body).toEqual({
      dryRun: true,
      count: 2,
      counts: [
        { prospect: 'wouldRun', count: 2 },
        { prospect: 'missing', count: 1 },
      ],
    });
  });

  test('counts an event that is running among those whose handlers would run', async () => {
    const held = new HeldHandler();
    const { receiver } = createOperated({ records: records(3), handle: held.handle });
    const ask = fetchOperator(receiver);
    const running = receiver.rerun(record(1), { handlers: ['book'], run: 'mend' });
    const call = await held.calls.nth(1);
    const { body } = await ask(RERUN, { body: { ...rerun, selection: {}, dryRun: true } });
    call.succeed();
    await running;
    expect(body).toEqual({
      dryRun: true,
      count: 3,
      counts: [
        { prospect: 'running', count: 1 },
        { prospect: 'wouldRun', count: 2 },
      ],
      selection: { until: NOW },
    });
  });
});
