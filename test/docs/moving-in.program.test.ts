import type { WebhookEvent } from 'posthorn';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../stores/redis/fixture.ts';
import { until } from '../support/until.ts';
import { eventsOf, KEY, Place, workOn } from './moving-in.ts';

const fixture = useRedis();

const DAY_MS = 86_400_000;
const TWO_HOURS_MS = 7_200_000;
const RETRIES_ARE_OVER_MS = 31 * 60_000;

/** The work of the old program. Some events are held until it is killed, after it has recorded their ids. */
const OLD_WORK = `
  await redis.rpush('began', event.id);
  if (event.id.startsWith('evt_held')) await new Promise(() => {});
  await redis.ping();
  await redis.rpush('booked:old', event.id);`;

function listOf(name: string): string[] {
  return fixture.redis.command('lrange', name, '0', '-1').split('\n').filter(Boolean);
}

function idsOf(events: Iterable<WebhookEvent>): string[] {
  return Array.from(events, ({ id }) => id);
}

/** An event that the old program has recorded two hours ago. */
function recordBefore({ id }: WebhookEvent): void {
  fixture.redis.command('set', `seen:${id}`, '1', 'px', String(DAY_MS - TWO_HOURS_MS));
}

/** Brings the expiry of all ids of the old program closer, as if so much time had passed. */
function age(ms: number): void {
  const script = `for _, key in ipairs(redis.call('keys', 'seen:*')) do
    local left = redis.call('pttl', key)
    if left > 0 then redis.call('pexpire', key, left - ARGV[1]) end
  end`;
  fixture.redis.command('eval', script, '0', String(ms));
}

/** A delivery of an event that is years old, which the old program takes. */
const old = { ...createEvent('transfer.succeeded'), created_at: '2020-01-01T00:00:00Z' };

describe('the old program that only checks with verify()', () => {
  const signed = (body: string): RequestInit => ({
    method: 'POST',
    headers: { ...signedHeaders(body, { key: KEY }), 'content-type': 'application/json' },
    body,
  });
  const good = JSON.stringify(createEvent('transfer.succeeded'));
  const failing = JSON.stringify(createEvent('transfer.failed'));

  test.each(['express', 'express-4'])('answers with the status of the error on %s', async (express) => {
    fixture.redis.command('flushall');
    const place = new Place(fixture.redis.port);
    place.compile('receiver.verify', 'checking', {
      book: `if (event.type === 'transfer.failed') throw new Error('no');
        await redis.rpush('booked:checked', event.id);`,
    });
    place.replace('checking', "from 'express'", `from '${express}'`);
    const { url } = await place.start('checking', 'module.app');
    const statusOf = async (request: RequestInit) => {
      const response = await fetch(url, request);
      return [response.status, await response.text()];
    };
    for (let time = 0; time < 2; time += 1) expect(await statusOf(signed(good))).toEqual([200, 'OK']);
    expect(await statusOf({ ...signed(good), body: `${good} ` })).toEqual([
      403,
      '{"code":"signature_mismatch"}',
    ]);
    expect(await statusOf(signed('{}'))).toEqual([400, '{"code":"envelope_invalid"}']);
    expect(await statusOf(signed(failing))).toEqual([500, '{}']);
    expect(await statusOf(signed(JSON.stringify(old)))).toEqual([200, 'OK']);
    expect(await statusOf({ method: 'POST' })).toEqual([500, '{"code":"configuration_invalid"}']);
    expect(listOf('booked:checked')).toHaveLength(2);
  });
});

test('the receiver with the old set takes events of every type and age once', async () => {
  const place = new Place(fixture.redis.port);
  const book = "await redis.rpush('booked:set', event.id);";
  place.compile("receiver.on('*', async (event) => {\n  const isNew", 'set', { book });
  const { send } = await place.start('set', "toNode(module.receiver, { path: '/webhooks' })");
  const events = [createEvent('merchant.created'), old];
  // A process that has just started knows the ids of the one before it by the set alone.
  fixture.redis.command('set', `seen:${old.id}`, '1');
  for (const event of events) expect(await send(event)).toContain('"outcome":"processed"');
  expect(listOf('booked:set')).toEqual(idsOf(events.slice(0, 1)));
});

describe('a move from the old program, which is killed between its record and its work,', () => {
  test('loses nothing but what that one had lost, and runs only young events twice', async () => {
    fixture.redis.command('flushall');
    const place = new Place(fixture.redis.port);
    place.compileOld({ book: OLD_WORK });
    place.compile('store: createRedisStore', 'receiver', {
      book: "await redis.rpush('booked:new', event.id);",
    });
    place.compileList();
    const history = eventsOf('history', 40);
    const [lost, ...handledBefore] = history;
    for (const event of history) recordBefore(event);
    fixture.redis.command('set', 'seen:evt_without_expiry', '1');

    const old = await place.start('old', 'module.app');
    const before = eventsOf('before', 20);
    for (const event of before) expect(await old.send(event)).toBe('OK');
    expect(await place.importByPage()).toBe('40 imported, 20 too young, 0 known before, 0 invalid\n');

    // Under load the old program is killed while it holds some events that it has recorded.
    const held = eventsOf('held', 12);
    const events = eventsOf('load', 400);
    const all = [...events.slice(0, 100), ...held, ...events.slice(100)];
    const unanswered = new Set<WebhookEvent>();
    const sent = workOn(all, async (event) => {
      if ((await old.send(event)) === undefined) unanswered.add(event);
    });
    await until('the old program has begun the events that it holds', () =>
      idsOf(held).every((id) => listOf('began').includes(id)),
    );
    old.program.kill('SIGKILL');
    await sent;
    const bookedByOld = listOf('booked:old');
    expect(idsOf(unanswered)).toEqual(expect.arrayContaining(idsOf(held)));
    expect(idsOf(held).filter((id) => bookedByOld.includes(id))).toEqual([]);

    const recorded = fixture.redis.command('keys', 'seen:evt_*_*').split('\n');
    const expiring = recorded.filter((key) => key !== 'seen:evt_without_expiry');

    // The retries, and some events that the service sends once more although they were answered.
    const current = await place.start('receiver', "toNode(module.receiver, { path: '/webhooks' })");
    const answered = events.filter((event) => !unanswered.has(event));
    const repeated = answered.slice(0, 5);
    for (const event of [...unanswered, ...repeated])
      expect(await current.send(event)).toContain('"outcome":"processed"');
    const bookedByNew = listOf('booked:new');
    expect(new Set([...bookedByOld, ...bookedByNew])).toEqual(new Set(idsOf([...before, ...all])));
    // Events that ran twice were young, and unanswered by the old program or sent twice.
    const twice = bookedByNew.filter((id) => bookedByOld.includes(id));
    const mayRunTwice = idsOf([...unanswered, ...repeated]);
    expect(twice).toEqual(expect.arrayContaining(idsOf(repeated)));
    expect(mayRunTwice).toEqual(expect.arrayContaining(twice));

    // Half an hour later the rest is old enough.
    age(RETRIES_ARE_OVER_MS);
    const known = 40 + bookedByNew.filter((id) => expiring.includes(`seen:${id}`)).length;
    const summary = `${expiring.length - known} imported, 0 too young, ${known} known before, 0 invalid\n`;
    expect(await place.importByPage()).toBe(summary);
    for (const event of [...before, ...all, ...handledBefore])
      expect(await current.send(event)).toContain('"outcome":"duplicate"');
    expect(listOf('booked:new')).toEqual(bookedByNew);
    // The old program had lost one, two hours ago: its last retry was a duplicate there, and is one here.
    expect(lost && (await current.send(lost))).toContain('"outcome":"duplicate"');
  });

  test('loses the event of the crash if it imports young ids too', async () => {
    fixture.redis.command('flushall');
    const place = new Place(fixture.redis.port);
    place.compileOld({ book: OLD_WORK });
    place.compileList();
    const book = "await redis.rpush('booked:new', event.id);";
    place.compile('store: createRedisStore', 'receiver', { book, scope: 'all-ids' });
    const [held, ...others] = [...eventsOf('held', 1), ...eventsOf('load', 20)];
    const old = await place.start('old', 'module.app');
    for (const event of others) expect(await old.send(event)).toBe('OK');
    const sent = held && old.send(held);
    await until('the old program has recorded the id', () => listOf('began').includes('evt_held_0'));
    old.program.kill('SIGKILL');
    expect(await sent).toBeUndefined();

    expect(await place.importByPage()).toBe('0 imported, 21 too young, 0 known before, 0 invalid\n');
    age(RETRIES_ARE_OVER_MS); // As an import of every id would take them.
    expect(await place.importByPage()).toContain('21 imported');
    const current = await place.start('receiver', "toNode(module.receiver, { path: '/webhooks' })");
    expect(held && (await current.send(held))).toContain('"outcome":"duplicate"');
    expect([...listOf('booked:old'), ...listOf('booked:new')]).not.toContain('evt_held_0');
  });
});
