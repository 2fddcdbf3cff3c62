import type { DeadLetters } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { readAll } from '../support/read-all.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { throwing } from '../support/throwing.ts';
import { until } from '../support/until.ts';
import { jsonLines } from './posthorn.ts';
import { type Dev, startDev } from './started-dev.ts';

const MINUTE_MS = 60_000;

/** The age of a last attempt, less a second of its way: src/receiver/dedupe/last-attempt.ts. */
const LAST_AGE_MS = 0.9 * 15 * MINUTE_MS - 1_000;

/** A receiver with the defaults and dead letters, whose handler of failed transfers always fails. */
async function receive(deadLetters: DeadLetters = createMapDeadLetters()) {
  const handled: string[] = [];
  const { url, reports } = await openEndpoint({ deadLetters }, (receiver) => {
    receiver.on('transfer.failed', throwing('always'));
    receiver.on(['transfer.succeeded', 'dispute.*'], ({ id }) => void handled.push(id));
  });
  const parked = async (): Promise<string[]> => (await readAll(deadLetters.list())).map(({ id }) => id);
  return { url, reports, handled, parked };
}

interface Sent {
  readonly at: number;
  readonly agedMs?: number;
  readonly status: number;
  readonly outcome: string;
  /** By the real time at which it was sent. */
  readonly ageMs: number;
}

async function sent({ run }: Dev, id: string): Promise<Sent[]> {
  const lines = jsonLines(await run('deliveries', '--event', id, '--json'));
  return lines.map((line) => {
    const { at, request, ...rest } = line as { at: string; request: { body: string } } & Omit<Sent, 'at'>;
    const ageMs = Date.parse(at) - Date.parse(JSON.parse(request.body).created_at);
    return { ...rest, at: Date.parse(at), ageMs };
  });
}

/** What a person does in `posthorn dev` until no retry is to come. */
const ways: readonly {
  readonly way: string;
  readonly args?: string[];
  readonly step: (dev: Dev) => Promise<unknown>;
}[] = [
  {
    way: 'advance, until nothing is pending',
    step: async ({ run }) => {
      while ((await run('advance')).code === 0);
    },
  },
  {
    way: 'the advance 21m of the banner',
    step: async ({ run }) => {
      await run('advance', '21m');
    },
  },
  { way: 'advance 1h in one go', step: ({ run }) => run('advance', '1h') },
  { way: 'advance 30d in one go', step: ({ run }) => run('advance', '30d') },
  {
    way: 'the button of the page',
    step: async ({ url }) => {
      for (let step = 1; step <= 3; step += 1) await toNextRetry(url);
    },
  },
  {
    way: 'only waiting, with --speed 600',
    args: ['--speed', '600'],
    step: (dev) =>
      until('the last attempt', async () => (await sent(dev, 'evt_poison')).at(-1)?.outcome === 'parked'),
  },
];

function toNextRetry(url: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/sandbox/clock`, { method: 'POST', headers, body: '{"toNextRetry":true}' });
}

describe('a receiver with default options behind posthorn dev parks the last attempt:', () => {
  test.each(ways)('$way', async ({ args = [], step }) => {
    const { url, reports, handled, parked } = await receive();
    const startedAt = Date.now();
    const dev = await startDev(url, args);
    await dev.run('trigger', 'transfer.failed', '--id', 'evt_poison');
    await step(dev);

    const attempts = await sent(dev, 'evt_poison');
    // A machine that stands still for a second is ten minutes late at a speed of 600. Then an attempt before
    // the fourth one is old enough to be the last.
    const last = attempts.at(-1);
    const isLate = args.includes('--speed') && (last?.ageMs ?? 0) >= LAST_AGE_MS;
    expect(attempts.map(({ status, outcome }) => `${status} ${outcome}`)).toEqual([
      ...Array(isLate ? attempts.length - 1 : 3).fill('500 handler_failed'),
      '200 parked',
    ]);
    for (const [index, { ageMs, at }] of attempts.entries()) {
      // Never less than in production; more by what answers and commands take, at the speed of the clock.
      expect(ageMs).toBeGreaterThanOrEqual(Number([0, 1, 6, 21][index]) * MINUTE_MS);
      expect(at).toBeGreaterThanOrEqual(startedAt);
      expect(at).toBeLessThanOrEqual(Date.now());
    }
    expect(await parked()).toEqual(['evt_poison']);
    // A disabled webhook would get nothing.
    expect((await dev.run('trigger', 'transfer.succeeded', '--id', 'evt_next')).stdout).toMatch(
      /200 processed/,
    );
    expect(handled).toEqual(['evt_next']);
    expect(reports.all.map(({ error }) => error?.code)).not.toContain('event_in_future');
  });

  test('over a restart of dev, with letters in files', async () => {
    const { url, handled, parked } = await receive(createFileDeadLetters(temporaryDirectory()));
    const first = await startDev(url);
    await first.run('trigger', 'transfer.failed', '--id', 'evt_1');
    await first.run('advance', '1h');
    await first.run('trigger', 'transfer.failed', '--id', 'evt_lost');
    await first.run('advance', '6m');
    first.program.kill('SIGTERM');
    await first.program.exit;

    const second = await startDev(url);
    await second.run('trigger', 'transfer.succeeded', '--id', 'evt_2');
    await second.run('trigger', 'transfer.failed', '--id', 'evt_3');
    await second.run('advance', '1h');
    expect((await sent(second, 'evt_3')).at(-1)).toMatchObject({ status: 200, outcome: 'parked' });
    expect(handled).toEqual(['evt_2']);
    expect((await parked()).sort()).toEqual(['evt_1', 'evt_3']);
  });
});

test('advance, deliveries and dev say by how much an event has aged, in real time', async () => {
  const { url } = await receive();
  const dev = await startDev(url);
  expect(dev.program.lines[1]).toMatch(/, a step ages its events$/);
  await dev.run('trigger', 'transfer.failed', '--id', 'evt_1');
  const line =
    /^\S+Z transfer\.failed evt_1 attempt 2 aged \d+ (s|min) 500 handler_failed \d+ ms again after 5 min$/;
  const { stdout } = await dev.run('advance', '1m');
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(line),
    'what has not ended is 1 min older',
  ]);
  await until('dev prints it', () => dev.program.lines.some((printed) => line.test(printed)));
  const advanced = jsonLines(await dev.run('advance', '5m1s', '--json'));
  expect(advanced).toMatchObject([
    { kind: 'delivery', number: 3, agedMs: expect.any(Number) },
    { kind: 'clock', agedMs: 301_000, deliveries: 1 },
  ]);
  expect(Math.abs(Date.parse(String(advanced[1]?.now)) - Date.now())).toBeLessThan(MINUTE_MS);
  const [first, ...retries] = await sent(dev, 'evt_1');
  expect(first?.agedMs).toBeUndefined();
  const createdAt = (first?.at ?? 0) - (first?.ageMs ?? 0);
  // The rest of each pause has passed in real time.
  for (const { at, ageMs, agedMs } of retries) expect(agedMs).toBe(createdAt - (at - ageMs));
  expect(retries.map(({ agedMs = 0 }) => agedMs <= 360_000 && agedMs > 0)).toEqual([true, true]);
  const triggered = await dev.run('trigger', 'transfer.succeeded', '--id', 'evt_2');
  expect(triggered).toMatchObject({ code: 0, stderr: '' });
  expect(triggered.stdout).not.toContain('aged');
});

test('says once of a retry that it has become older than an event that happened before it', async () => {
  const { url } = await receive();
  const dev = await startDev(url);
  const trigger = (type: string, id: string, resource = 'TR1') =>
    dev.run('trigger', type, '--id', id, '--data', `{"id":"${resource}"}`);
  await trigger('transfer.succeeded', 'evt_before');
  await trigger('transfer.failed', 'evt_retried');
  await trigger('transfer.failed', 'evt_other', 'TR2');
  await trigger('dispute.won', 'evt_dispute', 'TR2');
  await trigger('transfer.succeeded', 'evt_after');
  const older =
    '  evt_retried is older than evt_before now, although it happened after it: latest of an inbox skips it, and would ' +
    'not in production';
  const { stdout } = await dev.run('advance', '1m');
  expect(stdout.split('\n').filter((line) => line.includes('older than'))).toEqual([older]);
  await dev.run('advance', '1h');
  await until('dev prints all attempts', () =>
    dev.program.lines.some((line) => /evt_other attempt 4/.test(line)),
  );
  expect(dev.program.lines.filter((line) => line.includes('older than'))).toEqual([older]);
});

test.each(['20m59s', '21m', '14m'])('trigger --age %s is parked at the first attempt', async (age) => {
  const { url, parked } = await receive();
  const dev = await startDev(url);
  const { stdout } = await dev.run('trigger', 'transfer.failed', '--id', 'evt_1', '--age', age);
  expect(stdout).toMatch(/evt_1 attempt 1 200 parked/);
  expect(await parked()).toEqual(['evt_1']);
  expect((await dev.run('advance')).stderr).toMatch(/No delivery is pending/);
});

describe.each(['real', 'manual'])('with --clock %s', (clock) => {
  test('created_at stays, and the clock moves', async () => {
    const { url } = await receive();
    const dev = await startDev(url, ['--clock', clock]);
    await dev.run('trigger', 'transfer.failed', '--id', 'evt_1', '--age', '1m');
    const { stdout } = await dev.run('advance', '6m');
    expect(stdout).toMatch(/^the sandbox's clock is at \S+Z$/m);
    const lines = jsonLines(await dev.run('deliveries', '--json'));
    const bodies = lines.map(({ request }) => (request as { body: string }).body);
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
    // A clock that stands still is ahead by less with each second of the test.
    await dev.run('advance', '30m');
    expect((await dev.run('trigger', 'transfer.succeeded')).stderr).toMatch(/clock is 3[56] minutes ahead/);
  });
});
