import { PermanentError } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { letterOf } from '../../support/letter-of.ts';
import { Seen } from '../../support/seen.ts';
import { usePostgresQueueServer } from './postgres-queue-server.ts';
import { book, openQueueAt } from './queue-fixture.ts';

/** PostgreSQL refuses the first four in text and in JSON. The others only look like them. */
const TEXTS = ['a\u0000b', '\u0000', '\ud800', 'x\udc00y', '\\u0000', '\\ud800', '🙂'];
/** The texts as messages keep them. */
const KEPT = ['a\ufffdb', '\ufffd', '\ufffd', 'x\ufffdy', '\\u0000', '\\ud800', '🙂'];

/** An event with the text in its type and data, and in its id, which has no halves of characters. */
const withText = (text: string) => ({
  ...createEvent('transfer.succeeded', { id: text }),
  id: idOf(text),
  type: `transfer.${text}`,
});

const idOf = (text: string): string => `evt-${text.isWellFormed() ? text : text.length}`;

describe('characters that PostgreSQL refuses, in a queue in it', () => {
  const server = usePostgresQueueServer();

  test('come through in the id, the type, the body and the headers of an event', async () => {
    const { bull, receiver, reports, worker } = await openQueueAt(server);
    const handled = new Seen<unknown>();
    const running = receiver(
      book(({ id, type, data }, { rawBody }) => {
        handled.add({ id, type, data, body: JSON.parse(Buffer.from(rawBody).toString()) });
      }),
    );
    worker(running);
    for (const text of TEXTS) {
      const event = withText(text);
      const delivery = deliveryOf(event, { 'x-note': [text] });
      expect(await running.receive(delivery), JSON.stringify(text)).toMatchObject({ status: 202 });
      const { id, type, data } = event;
      await expect.poll(() => handled.all.at(-1)).toEqual({ id, type, data, body: event });
      await reports.first((report) => report.outcome === 'processed' && report.event?.id === id);
      expect(await running.receive(delivery)).toMatchObject({ status: 200 });
    }
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(handled.all).toHaveLength(TEXTS.length);
  });

  test.each([
    ['is parked by its worker', true],
    ['has failed in a worker without dead letters', false],
  ])('come through in the dead letter of an event that %s', async (_when, parksAtOnce) => {
    const { bull, receiver, scope, worker } = await openQueueAt(server);
    const deadLetters = await server.openDeadLetters(scope);
    const register = book(({ type }) => {
      throw new PermanentError(`refused: ${type}`);
    });
    const failing = receiver(register, { deadLetters: parksAtOnce ? deadLetters : undefined });
    for (const text of TEXTS) await failing.receive(deliveryOf(withText(text), { 'x-note': [text] }));
    const failed = worker(failing);
    if (!parksAtOnce) await expect.poll(() => bull.getFailedCount()).toBe(TEXTS.length);
    else await expect.poll(() => bull.getJobCountByTypes('waiting', 'active')).toBe(0);
    await failed.close();
    worker(receiver(register, { deadLetters }));
    await expect.poll(() => bull.getFailedCount()).toBe(0);
    for (const [index, text] of TEXTS.entries()) {
      const letter = await letterOf(deadLetters, idOf(text));
      expect(letter).toMatchObject({
        reason: 'handler_failed_permanently',
        type: `transfer.${text}`,
        headers: { 'x-note': [text] },
        attempts: 1,
        message: expect.stringContaining(`refused: transfer.${parksAtOnce ? text : KEPT[index]}`),
      });
      expect(JSON.parse(Buffer.from(letter.rawBody).toString())).toMatchObject({ id: idOf(text) });
    }
  });

  test('do not keep a job from being tried again after they were in the message of an error', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    const runs = new Seen<string>();
    const running = receiver(
      book(({ id, type }, { attempt }) => {
        runs.add(id);
        if (attempt === 1) throw new Error(type);
      }),
    );
    for (const text of TEXTS) await running.receive(deliveryOf(withText(text)));
    worker(running);
    await reports.nth(TEXTS.length, ({ outcome }) => outcome === 'failed');
    await expect.poll(() => bull.getDelayedCount()).toBe(TEXTS.length);
    const reasons = (await bull.getDelayed()).map(({ failedReason }) => failedReason);
    const failed = 'handler_failed: the handler "book" failed: transfer.';
    expect(reasons.toSorted()).toEqual(KEPT.map((kept) => `${failed}${kept}`).toSorted());
    await promote();
    await reports.nth(TEXTS.length, ({ outcome }) => outcome === 'processed');
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(runs.all).toHaveLength(2 * TEXTS.length);
  });
});
