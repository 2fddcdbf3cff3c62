import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import {
  ADMINISTRATOR,
  BANKING,
  CONTROL,
  createWebhook,
  type OpenedSandbox,
  openSandbox,
  serveUntilTheEnd,
} from './opened-sandbox.ts';
import { record, statuses } from './recording-endpoint.ts';

const LAST_MOMENT = Date.parse('9999-12-31T00:00:00.000Z');
const YEAR_MS = 365 * 86_400_000;
const ASKED = '{"destination":{"currency":"EUR","amount":"100.00"}}';
const QUOTES = '/banking/us2/v1/transaction/fxQuote';

/** Asks for everything that has a time in it; nothing of it may fail. */
async function expectAllAnswered(opened: OpenedSandbox): Promise<void> {
  const { call } = opened;
  const endpoint = await record(statuses(500));
  const { id } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  const answers = await Promise.all([
    call('PUT', `/payments/na/webhooks/${id}`, ADMINISTRATOR, '{"enabled":true}'),
    call('POST', QUOTES, BANKING, ASKED),
    call('POST', '/sandbox/events', CONTROL, '{"type":"transfer.created"}'),
    call('GET', '/sandbox/clock'),
    call('GET', '/sandbox/deliveries'),
  ]);
  for (const { status, body } of answers)
    expect([status, body]).toEqual([expect.toBeOneOf([200, 201]), body]);
  await until('the delivery', () => opened.sandbox.deliveries().length > 0);
}

describe('the clock ends with the year 9999', () => {
  test('where it starts there', async () => {
    const opened = await openSandbox({ clock: 'manual', startAt: LAST_MOMENT });
    await expectAllAnswered(opened);
    const [attempt] = opened.sandbox.deliveries();
    expect(attempt?.at).toBe('9999-12-31T00:00:00.000Z');
  });

  test('a step beyond is refused, and changes nothing', async () => {
    const startAt = LAST_MOMENT - YEAR_MS;
    const opened = await openSandbox({ clock: 'manual', startAt });
    const body = `{"advanceMs":${2 * YEAR_MS}}`;
    expect(await opened.call('POST', '/sandbox/clock', CONTROL, body)).toMatchObject({
      status: 400,
      body: { message: 'Invalid step', details: 'the clock ends with the year 9999' },
    });
    await expect(opened.sandbox.clock.advance(2 * YEAR_MS)).rejects.toMatchObject({
      code: 'request_refused',
    });
    expect(opened.sandbox.clock.now()).toBe(startAt);
    await opened.sandbox.clock.advance(YEAR_MS);
    expect(opened.sandbox.clock.now()).toBe(LAST_MOMENT);
  });

  test('a hundred steps of a hundred years: each is made or refused', async () => {
    const { call, sandbox } = await openSandbox({ clock: 'manual', startAt: 0 });
    const step = `{"advanceMs":${100 * YEAR_MS}}`;
    const answers: number[] = [];
    for (let count = 0; count < 100; count += 1) {
      answers.push((await call('POST', '/sandbox/clock', CONTROL, step)).status);
    }
    expect(new Set(answers)).toEqual(new Set([200, 400]));
    expect(answers).toEqual([...answers].sort());
    expect(sandbox.clock.now()).toBeLessThanOrEqual(LAST_MOMENT);
  });

  test('a retry that would come after the end never comes, and none is waited for', async () => {
    const opened = await openSandbox({ clock: 'manual', startAt: LAST_MOMENT });
    const endpoint = await record(statuses(500));
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    await opened.settle({ type: 'transfer.created' });
    const next = await opened.call('POST', '/sandbox/clock', CONTROL, '{"toNextRetry":true}');
    expect(next).toMatchObject({ status: 400, body: { message: 'Invalid step' } });
    expect(opened.sandbox.deliveries()).toHaveLength(1);
  });

  test.each([1e12, 1e300])('at %d times the speed', async (speed) => {
    const opened = await openSandbox({ speed });
    await until('the end of the time', () => opened.sandbox.clock.now() === LAST_MOMENT);
    await expectAllAnswered(opened);
  });

  test.each([8.64e15, -9e15])('in a state file that says %d', async (time) => {
    const state = join(temporaryDirectory(), 'state.json');
    const kept = { webhooks: [], quotes: [], pending: [], attempts: [] };
    const clock = { time, realTime: Date.now() };
    await writeFile(state, JSON.stringify({ version: 1, clock, ...kept }));
    const opened = await serveUntilTheEnd(createSandbox({ clock: 'manual', state }));
    await expectAllAnswered(opened);
  });
});
