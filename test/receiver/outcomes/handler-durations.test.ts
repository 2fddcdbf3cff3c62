import { createReceiver, type Report } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTimers } from '../../support/fake-time.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';

beforeEach(() => {
  fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

test('the report has the time that each handler took, and that of the whole delivery', async () => {
  const reports: Report[] = [];
  const begun = new Seen<string>();
  const sleep = (name: string, ms: number): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
      begun.add(name);
    });
  const receiver = createReceiver({ signingKey: KEY })
    .on('*', () => sleep('slow', 250), { name: 'slow' })
    .on('*', () => sleep('failing', 100).then(() => Promise.reject(new Error('poison'))), { name: 'failing' })
    .on('*', () => {}, { name: 'quick' })
    .observe((report) => reports.push(report));
  const { readBody, ...delivery } = deliveryOf(createEvent('transfer.created'));
  const answer = receiver.receive({
    ...delivery,
    readBody: (options) => sleep('body', 40).then(() => readBody(options)),
  });
  await begun.nth(1);
  await vi.advanceTimersByTimeAsync(40);
  await begun.nth(3);
  await vi.advanceTimersByTimeAsync(250);
  expect(await answer).toMatchObject({ status: 500 });
  expect(reports[0]?.handlers).toEqual([
    { name: 'quick', ok: true, durationMs: 0 },
    { name: 'failing', ok: false, durationMs: 100 },
    { name: 'slow', ok: true, durationMs: 250 },
  ]);
  expect(reports[0]?.durationMs).toBe(290);
});
