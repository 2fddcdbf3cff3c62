import type { AnyEvent } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { nameHandler, skipped } from '../../../../src/receiver/handling/handlers/named-handler.ts';
import { eventAt, openDirectly } from '../../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { SOURCE } from './counting.ts';

const HANDLERS = ['book', 'mail'];

/** A receiver whose handlers keep records, as those of an inbox do, and an event that some have handled. */
function openWithRecords(handled: readonly string[]) {
  const { clock, store } = stepClocked();
  const event = eventAt(clock.startedAt);
  const records = new Set(handled.map((name) => `${event.id} ${name}`));
  const runs: string[] = [];
  const once = (name: string) => {
    const handler = ({ id }: AnyEvent): unknown => {
      if (records.has(`${id} ${name}`)) return skipped('handled_before');
      return runs.push(name);
    };
    const hasHandled = async (key: string): Promise<boolean> => records.has(`${key} ${name}`);
    return nameHandler(name, handler, { takeName: () => false, hasHandled });
  };
  const { receiver } = openDirectly({ now: clock.now, store }, (opened) => {
    for (const name of HANDLERS) opened.on('*', once(name));
  });
  return { clock, event, receiver, runs };
}

describe('an event that the store has forgotten', () => {
  test.each([
    { handled: HANDLERS, outcome: 'duplicate', ran: [] },
    { handled: ['book'], outcome: 'processed', ran: ['mail'] },
    { handled: ['mail'], outcome: 'processed', ran: ['book'] },
  ])('and of which inboxes have records of $handled is $outcome', async ({ handled, outcome, ran }) => {
    const { event, receiver, runs } = openWithRecords(handled);
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome });
    expect(runs).toEqual(ran);
  });

  test.each([
    { handled: HANDLERS, answer: { outcome: 'duplicate' } },
    { handled: ['book'], answer: { outcome: 'rejected', code: 'event_too_old' } },
    { handled: ['mail'], answer: { outcome: 'rejected', code: 'event_too_old' } },
  ])('and is old: inboxes with records of $handled decide', async ({ handled, answer }) => {
    const { clock, event, receiver, runs } = openWithRecords(handled);
    clock.moveTo(30 * 60 * MINUTE_MS);
    expect(await receiver.accept(event, SOURCE)).toMatchObject(answer);
    expect(runs).toEqual([]);
  });
});
