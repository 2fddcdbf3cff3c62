import { createMemoryStore } from 'posthorn';
import { expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { fetchOperator } from './mounts.ts';
import { createOperated, letters } from './operated.ts';

const idsOf = (count: number): string[] => letters(count).map(({ id }) => id);

test.each(['replay', 'drop'])(
  'two operators who %s one selection at once reach each event once',
  async (deed) => {
    const { handled, left, receiver } = createOperated({ parked: letters(20) });
    const [ada, bob] = [fetchOperator(receiver), fetchOperator(receiver)];
    const body = { selection: {} };
    const path = `/api/dead-letters/${deed}`;
    const answers = await Promise.all([ada(path, { body }), bob(path, { body })]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([...handled].sort()).toEqual(deed === 'replay' ? idsOf(20) : []);
    expect(left.size).toBe(0);
    const ended = deed === 'replay' ? 'processed' : 'dropped';
    const results = answers.flatMap(({ body }) => body.results ?? []);
    const ids = results.filter(({ outcome }) => outcome === ended).map(({ id }) => id);
    expect(ids.sort()).toEqual(idsOf(20));
  },
);

test('two processes that replay and drop one selection at once give each event to one of them', async () => {
  const left = new Map(letters(20).map((one) => [one.id, one]));
  const shared = { deadLetters: createMapDeadLetters(left), store: createMemoryStore() };
  const [one, other] = [createOperated(shared), createOperated(shared)];
  const body = { selection: {} };
  const [replayed, dropped] = await Promise.all([
    fetchOperator(one.receiver)('/api/dead-letters/replay', { body }),
    fetchOperator(other.receiver)('/api/dead-letters/drop', { body }),
  ]);
  const givenUp = dropped.body.results?.filter(({ outcome }) => outcome === 'dropped') ?? [];
  const processed = replayed.body.results?.filter(({ outcome }) => outcome === 'processed') ?? [];
  const taken = [...givenUp, ...processed].map(({ id }) => id);
  expect(taken).toEqual([...new Set(taken)]);
  expect(taken.sort()).toEqual(idsOf(20).filter((id) => !left.has(id)));
  expect([...one.handled].sort()).toEqual(processed.map(({ id }) => id).sort());
});
