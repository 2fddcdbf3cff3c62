import type { DeadLetters } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { type Answer, type Ask, fetchOperator, type MountOptions } from './mounts.ts';
import { createOperated, idOf, letter, letters, NOW } from './operated.ts';

const REPLAY = '/api/dead-letters/replay';
const DROP = '/api/dead-letters/drop';
const all = { selection: {} };

function open(given: Parameters<typeof createOperated>[0], options?: MountOptions) {
  const operated = createOperated(given);
  return { ...operated, ask: fetchOperator(operated.receiver, options) };
}

/** Sends a deed, and each `next`, until the end. */
async function toTheEnd(ask: Ask, path: string, body: object, between = () => {}): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let next: object | undefined = body; next !== undefined; next = answers.at(-1)?.body.next) {
    answers.push(await ask(path, { body: next }));
    between();
    if (answers.length > 10) expect.unreachable('the deed has no end');
  }
  return answers;
}

const outcomesOf = ({ body }: Answer): readonly string[] =>
  body.results?.map(({ id, outcome }) => `${id} ${outcome}`) ?? [];

const idsOf = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => idOf(first + index));

describe('a deed on a selection', () => {
  test('is done in portions of 20, the oldest first, until the end', async () => {
    const { ask, handled, left } = open({ parked: letters(45) });
    const answers = await toTheEnd(ask, REPLAY, all);
    expect(answers.map(({ body }) => body.results?.length)).toEqual([20, 20, 5]);
    expect(answers[0]?.body.next).toEqual({
      selection: { until: NOW },
      after: idOf(20),
      parkedAt: letter(20).parkedAt,
    });
    expect(handled).toEqual(idsOf(1, 45));
    expect(left.size).toBe(0);
  });

  test('ends with a portion that is full if nothing is left', async () => {
    const { ask } = open({ parked: letters(20) });
    expect((await ask(DROP, { body: all })).body).toEqual({
      results: expect.any(Array),
      skipped: { running: 0, old: 0, others: 0 },
    });
  });

  test('tries those that fail again once, and they keep their place', async () => {
    const handle = ({ id }: { readonly id: string }): void => {
      if (Number(id.slice(4)) % 2 === 0) throw new Error('still locked');
    };
    const { ask, handled, left } = open({ parked: letters(25), handle });
    const answers = await toTheEnd(ask, REPLAY, all);
    expect(answers.flatMap(outcomesOf).slice(0, 2)).toEqual([`${idOf(1)} processed`, `${idOf(2)} parked`]);
    expect(answers[0]?.body.results?.[1]).toMatchObject({
      type: 'transfer.succeeded',
      code: 'handler_failed',
      message: expect.stringContaining('still locked'),
    });
    expect(handled).toEqual(idsOf(1, 25));
    expect([...left.keys()].sort()).toEqual(idsOf(1, 25).filter((_, index) => index % 2 === 1));
  });

  test('tries each once, though the store has forgotten the places of those that are gone', async () => {
    // More stay than a scan lists at once, and the last one of each portion is gone.
    const left = new Map(letters(125).map((one) => [one.id, one]));
    const map = createMapDeadLetters(left);
    const list: DeadLetters['list'] = ({ after = '', limit } = {}) =>
      map.list({ after: left.has(after) ? after : undefined, limit });
    const handle = ({ id }: { readonly id: string }): void => {
      if (Number(id.slice(4)) % 20 !== 0) throw new Error('still locked');
    };
    const { ask, handled } = open({ deadLetters: { ...map, list }, handle });
    const answers = await toTheEnd(ask, REPLAY, all);
    expect(answers.map(({ body }) => body.results?.length)).toEqual([20, 20, 20, 20, 20, 20, 5]);
    expect(handled).toEqual(idsOf(1, 125));
    expect(left.size).toBe(119);
  });

  test('ends now, though its selection ends in the future', async () => {
    const { ask, left } = open({ parked: [...letters(21), letter(99, { parkedAt: NOW })] });
    const selection = { until: NOW + 60_000 };
    const answers = await toTheEnd(ask, DROP, { selection });
    expect(answers[0]?.body.next).toMatchObject({ selection: { until: NOW } });
    expect([...left.keys()]).toEqual([idOf(99)]);
  });

  test('leaves those that are parked meanwhile', async () => {
    const { ask, handled, left } = open({ parked: letters(25) });
    const late = letter(99, { parkedAt: NOW });
    await toTheEnd(ask, REPLAY, all, () => void left.set(late.id, late));
    expect(handled).toEqual(idsOf(1, 25));
    expect([...left.keys()]).toEqual([late.id]);
  });

  test('takes what fits the selection', async () => {
    const { ask, left } = open({
      parked: [
        letter(1, { type: 'dispute.won' }),
        letter(2, { reason: 'json_invalid' }),
        ...letters(6).slice(2),
      ],
    });
    const until = letter(5).parkedAt;
    const selection = { type: 'transfer.*', reason: 'handler_failed', since: letter(1).parkedAt, until };
    expect(outcomesOf(await ask(DROP, { body: { selection } }))).toEqual([
      `${idOf(3)} dropped`,
      `${idOf(4)} dropped`,
    ]);
    expect([...left.keys()]).toEqual([1, 2, 5, 6].map(idOf));
  });

  const mixed = [
    letter(1, { runningUntil: NOW + 1 }),
    letter(2, { reason: 'event_too_old' }),
    letter(3, { provider: 'stripe' }),
    letter(4, { runningUntil: NOW }),
  ];

  test('passes over what may be running, is old, or is of others, and counts it', async () => {
    const { ask, handled } = open({ parked: mixed });
    expect((await ask(REPLAY, { body: all })).body).toEqual({
      results: [{ id: idOf(4), type: 'transfer.succeeded', outcome: 'processed' }],
      skipped: { running: 1, old: 1, others: 1 },
    });
    expect(handled).toEqual([idOf(4)]);
  });

  test('drops what is old', async () => {
    const { ask } = open({ parked: mixed });
    const answer = await ask(DROP, { body: all });
    expect(outcomesOf(answer)).toEqual([`${idOf(2)} dropped`, `${idOf(4)} dropped`]);
    expect(answer.body).toMatchObject({ skipped: { running: 1, old: 0, others: 1 } });
  });
});

describe('a deed on ids', () => {
  test('tells the end of each, in their order', async () => {
    const { ask, handled, left } = open({
      parked: [...letters(3), letter(4, { runningUntil: NOW + 1 }), letter(5, { reason: 'event_too_old' })],
    });
    const answer = await ask(REPLAY, { body: { ids: [3, 9, 1, 4, 5].map(idOf) } });
    expect(outcomesOf(answer)).toEqual([
      `${idOf(3)} processed`,
      `${idOf(9)} missing`,
      `${idOf(1)} processed`,
      `${idOf(4)} busy`,
      `${idOf(5)} processed`,
    ]);
    expect(answer.body.results?.[3]).toMatchObject({ code: 'event_running' });
    expect(handled).toEqual([3, 1, 5].map(idOf));
    expect([...left.keys()]).toEqual([2, 4].map(idOf));
  });

  test('drops them without their handlers', async () => {
    const { ask, handled, left } = open({ parked: [...letters(2), letter(3, { runningUntil: NOW + 1 })] });
    expect(outcomesOf(await ask(DROP, { body: { ids: [2, 3, 9].map(idOf) } }))).toEqual([
      `${idOf(2)} dropped`,
      `${idOf(3)} running`,
      `${idOf(9)} missing`,
    ]);
    expect(handled).toEqual([]);
    expect([...left.keys()]).toEqual([1, 3].map(idOf));
  });

  test('tells that one is missing which was handled elsewhere before the drop', async () => {
    const found = letters(1);
    const deadLetters = { ...createMapDeadLetters(), get: async () => found.shift() };
    const { ask } = open({ deadLetters });
    expect(outcomesOf(await ask(DROP, { body: { ids: [idOf(1)] } }))).toEqual([`${idOf(1)} missing`]);
  });

  test('works on 20 of up to 1,000, and gives back the others', async () => {
    const { ask, handled } = open({ parked: letters(41) });
    const ids = [...idsOf(1, 41), ...Array.from({ length: 959 }, (_, index) => `none_${index}`)];
    const answer = await ask(REPLAY, { body: { ids } });
    expect(answer.body.next).toEqual({ ids: ids.slice(20) });
    const answers = await toTheEnd(ask, REPLAY, { ids: idsOf(21, 41) });
    expect(answers.map(({ body }) => body.results?.length)).toEqual([20, 1]);
    expect(handled).toEqual(idsOf(1, 41));
  });

  test('runs an id that is given twice once', async () => {
    const { ask, handled } = open({ parked: letters(1) });
    const answer = await ask(REPLAY, { body: { ids: [idOf(1), idOf(1)] } });
    expect(outcomesOf(answer)).toEqual([`${idOf(1)} processed`]);
    expect(handled).toEqual([idOf(1)]);
  });
});

describe('a dry run', () => {
  test('counts by type and reason, and does nothing', async () => {
    const { ask, handled, left, log } = open({
      parked: [
        ...letters(30),
        letter(31, { type: 'dispute.won' }),
        letter(32, { type: undefined, reason: 'json_invalid' }),
        letter(33, { runningUntil: NOW + 1 }),
        letter(34, { reason: 'event_too_old' }),
      ],
    });
    const answer = await ask(REPLAY, { body: { ...all, dryRun: true } });
    expect(answer.body).toEqual({
      dryRun: true,
      count: 32,
      counts: [
        { type: 'transfer.succeeded', reason: 'handler_failed', count: 30 },
        { type: 'dispute.won', reason: 'handler_failed', count: 1 },
        { reason: 'json_invalid', count: 1 },
      ],
      selection: { until: NOW },
      skipped: { running: 1, old: 1, others: 0 },
    });
    expect(await ask(DROP, { body: { ...all, dryRun: true } })).toMatchObject({ body: { count: 33 } });
    expect([handled.length, left.size, log.mock.calls.length]).toEqual([0, 34, 0]);
  });

  test('counts the ids that are given, each once, and no other', async () => {
    const { ask, handled } = open({
      parked: [
        ...letters(30),
        letter(31, { runningUntil: NOW + 1 }),
        letter(32, { reason: 'event_too_old' }),
        letter(33, { provider: 'stripe' }),
      ],
    });
    const ids = [...idsOf(5, 28), ...[31, 32, 33, 99].map(idOf), ...idsOf(5, 9)];
    expect((await ask(REPLAY, { body: { ids, dryRun: true } })).body).toEqual({
      dryRun: true,
      count: 25,
      counts: [
        { type: 'transfer.succeeded', reason: 'handler_failed', count: 24 },
        { type: 'transfer.succeeded', reason: 'event_too_old', count: 1 },
      ],
      skipped: { running: 1, old: 0, others: 1 },
    });
    expect(handled).toEqual([]);
  });

  test('goes on after a dead letter', async () => {
    const { ask } = open({ parked: letters(30) });
    const body = { ...all, after: idOf(12), dryRun: true };
    expect(await ask(DROP, { body })).toMatchObject({ body: { count: 18 } });
  });
});
