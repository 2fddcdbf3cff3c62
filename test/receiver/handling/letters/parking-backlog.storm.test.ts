import { setImmediate } from 'node:timers/promises';
import type { DeadLetters } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, test } from 'vitest';
import { ampleDeadlines } from '../../../support/limits.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted } from '../../../support/open-endpoint.ts';
import { sendTogether } from '../../../support/send-together.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { expectAllParked, expectBacklogParked, openBacklog } from './backlog.ts';

describe('last attempts that come all at once are all parked', () => {
  test('500 of them, in files', async () => {
    const deadLetters = createFileDeadLetters(temporaryDirectory());
    const { url, events, ids } = await openBacklog({ ...ampleDeadlines, deadLetters }, 500);
    expect(await sendTogether(url, events)).toEqual(ids.map((id) => ({ outcome: 'parked', id })));
    await expectAllParked(deadLetters, ids);
  });

  test('600 of them, on a disk that takes 10 ms for each letter', () => expectBacklogParked(600, 10));

  test('though the event loop is so busy that each letter takes longer than its time limit', async () => {
    const map = createMapDeadLetters();
    const put: DeadLetters['put'] = async (letter) => {
      for (let turn = 0; turn < 8; turn += 1) {
        await setImmediate();
        const endsAt = performance.now() + 280;
        while (performance.now() < endsAt);
      }
      await map.put(letter);
    };
    // The limit is a quarter of the deadline: 2,000 ms.
    const options = { deadLetters: { ...map, put }, deadlineMs: 8_000 };
    const { events, ids, receive } = await openBacklog(options, 1);
    expect(await Promise.all(events.map(receive))).toEqual(ids.map((id) => accepted('parked', id)));
    await expectAllParked(map, ids);
  });
});
