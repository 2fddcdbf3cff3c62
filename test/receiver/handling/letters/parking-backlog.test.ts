import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { accepted } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { createSlowDisk, expectBacklogParked, openBacklog } from './backlog.ts';

test('60 last attempts that come all at once are all parked, on a disk that takes 100 ms for each letter', () =>
  expectBacklogParked(60, 100));

test('a letter that is given up while it waits in line is never written', async () => {
  const { deadLetters, map, begun, written } = createSlowDisk(20);
  const { events, ids, receive, receiver } = await openBacklog(
    { deadLetters, deadlineMs: 1_600 },
    200,
    'SUCCEEDED',
  );
  const givenUp: string[] = [];
  const removalsGivenUp = new Set<string>();
  receiver.observe(({ event, warnings }) => {
    if (event?.id === undefined) return;
    if (!begun.has(event.id)) givenUp.push(event.id);
    if (warnings.some((text) => text.startsWith('dead_letter_not_removed'))) removalsGivenUp.add(event.id);
  });
  const pass = fakeTime();
  const answers = await passUntil(pass, Promise.all(events.map(receive)));
  expect(answers).toEqual(ids.map((id) => accepted('processed', id)));
  await passUntil(pass, receiver.close());
  await passUntil(pass, written());
  expect(givenUp.length).toBeGreaterThan(0);
  expect(givenUp.filter((id) => begun.has(id))).toEqual([]);
  // A removal may be given up as well: then its report says so.
  const left = (await readAll(map.list())).map(({ id }) => id);
  expect(left.filter((id) => !removalsGivenUp.has(id))).toEqual([]);
});
