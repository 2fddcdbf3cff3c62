import type { DeadLetters, Report } from 'posthorn';
import { expect } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { accepted, eventAt, openDirectly, refused } from '../../support/open-endpoint.ts';
import { MINUTE_MS, StepClock } from '../../support/step-clock.ts';

const NOT_STORED = expect.stringMatching(/^dead_letter_not_stored: /);

/** An endpoint at the moment of the last retry; what becomes of an event is in its data. */
export function openLastChance(deadLetters: DeadLetters, deadlineMs = 1_000) {
  const clock = new StepClock();
  const createdAt = clock.startedAt;
  clock.moveTo(15 * MINUTE_MS);
  const held = new HeldHandler();
  const settings = { now: clock.now, deadLetters, deadlineMs };
  const endpoint = openDirectly(settings, (receiver) =>
    receiver.on('transfer.*', (event, context) => {
      if (event.data.state === 'HELD') return held.handle(event, context);
      if (event.data.state === 'FAILED') throw new Error('poison');
      return 'done';
    }),
  );
  const eventThat = (state: string) => ({ ...eventAt(createdAt), data: { state } });
  return { ...endpoint, clock, eventThat, held };
}

type LastChance = ReturnType<typeof openLastChance>;

export async function expectNothingToBeParked({ send, reports, eventThat, held }: LastChance): Promise<void> {
  const reportOf = (id: string) => reports.first(({ event }) => event?.id === id);
  const good = eventThat('SUCCEEDED');
  expect(await send(good)).toEqual(accepted('processed', good.id));
  expect(await reportOf(good.id)).toMatchObject({
    outcome: 'processed',
    late: false,
    final: true,
    endpointAtRisk: false,
    warnings: expect.arrayContaining([NOT_STORED]),
  });
  expect(await send(good)).toEqual(accepted('duplicate', good.id));

  const bad = eventThat('FAILED');
  expect(await send(bad)).toEqual(refused(500, 'handler_failed'));
  expect(await reportOf(bad.id)).toMatchObject({
    outcome: 'failed',
    late: false,
    final: true,
    endpointAtRisk: true,
    warnings: expect.arrayContaining([NOT_STORED]),
  });

  const slow = eventThat('HELD');
  expect(await send(slow)).toEqual(refused(503, 'deadline_reached'));
  expect(await reportOf(slow.id)).toMatchObject({
    outcome: 'failed',
    late: false,
    endpointAtRisk: true,
    warnings: expect.arrayContaining([NOT_STORED]),
  });
  held.calls.all[0]?.succeed();
  const isItsEnd = ({ event, late }: Report): boolean => event?.id === slow.id && late;
  expect(await reports.first(isItsEnd)).toMatchObject({ outcome: 'processed' });

  expect(await send('no event')).toEqual(refused(400, 'body_not_json'));
  const unread = await reports.first(({ code }) => code === 'body_not_json');
  expect(unread.warnings).toEqual([NOT_STORED]);
}
