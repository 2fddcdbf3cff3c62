import fc from 'fast-check';
import { createMemoryStore, EventError, type ReceiverOptions } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { CREATED_AT, envelope, members, NOW, receiverAt, verify } from '../../support/envelopes.ts';

describe('created_at', () => {
  const times: readonly { text: string; ms: number }[] = [
    { text: '2026-05-04T03:02:01Z', ms: NOW },
    { text: '2026-05-04T03:02:01.5Z', ms: NOW + 500 },
    { text: '2026-05-04T03:02:01.123456789Z', ms: NOW + 123 },
    { text: `2026-05-04T03:02:01.${'9'.repeat(5_000)}Z`, ms: NOW + 999 },
    { text: '2026-05-04T05:02:01+02:00', ms: NOW },
    { text: '2026-05-03T21:32:01.250-05:30', ms: NOW + 250 },
    { text: '2026-05-04T03:02:01-00:00', ms: NOW },
    { text: '2026-05-04T03:02:01+00:00', ms: NOW },
    { text: '2026-05-04T03:02:01+0000', ms: NOW },
    { text: '2026-05-04T03:02:01.123+0000', ms: NOW + 123 },
    { text: '2026-05-04T03:02:01-0000', ms: NOW },
    { text: '2026-05-04T03:02:01+00', ms: NOW },
    { text: '2026-05-03T21:32:01.250-0530', ms: NOW + 250 },
    { text: '2026-05-04T05:02:01+02', ms: NOW },
    { text: '2026-05-04t03:02:01z', ms: NOW },
    { text: '2026-05-04 03:02:01Z', ms: NOW },
    { text: '2026-05-04 03:02:01.5+0000', ms: NOW + 500 },
    { text: '2026-05-04 03:02:01', ms: NOW },
    { text: '2026-05-04T03:02:01,5Z', ms: NOW + 500 },
    { text: '2026-05-04T03:02Z', ms: NOW - 1_000 },
    { text: '2026-05-04T03:02+0000', ms: NOW - 1_000 },
    { text: '2026-05-04T03:02', ms: NOW - 1_000 },
    { text: '2026-05-04T03:02:01', ms: NOW },
    { text: '2026-05-04T03:02:01.007', ms: NOW + 7 },
    { text: '2024-02-29T00:00:00Z', ms: Date.UTC(2024, 1, 29) },
  ];
  test.each(times)('$text', async ({ text, ms }) => {
    const maxEventAgeMs = 1_000;
    const body = envelope({ created_at: text });
    await expect(verify(body, ms + 1_000, { maxEventAgeMs })).resolves.toMatchObject({ created_at: text });
    const late = verify(body, ms + 1_001, { maxEventAgeMs });
    await expect(late).rejects.toMatchObject({ code: 'event_too_old' });
  });

  test('without a zone is UTC wherever the process runs', async () => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      expect(new Date(2026, 6, 1).getTimezoneOffset()).toBe(240);
      const body = envelope({ created_at: '2026-05-04T03:02:01' });
      await expect(verify(body, NOW + 1_000, { maxEventAgeMs: 1_000 })).resolves.toBeDefined();
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  const impossible = ['2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-13-01T00:00:00Z'].concat(
    ['2026-00-01T00:00:00Z', '2026-04-31T00:00:00Z', '2026-01-01T25:00:00Z', '2026-01-01T00:60:00Z'],
    ['2026-01-01T00:00:00+99:00', 'yesterday', '1777863721', '2026-05-04', '05/04/2026 03:02:01'],
    [
      '2026-02-30T00:00:00+0000',
      '2026-01-01T00:00:00+2400',
      '2026-01-01T00:00:00+99',
      '2026-05-04T24:00:00Z',
    ],
    ['2026-05-04T03:02:01+', '2026-05-04T03:02:01+0', '2026-05-04T03:02:01+00:', '2026-05-04T03:02:01+000'],
    ['2026-05-04T03:02:01.Z', '2026-05-04T03:02:01 Z', '2026-05-04T03:02:01UTC', '2026-05-04  03:02:01Z'],
    [' 2026-05-04T03:02:01Z', '2026-05-04T03:02:01Z\n', 'Mon, 04 May 2026 03:02:01 GMT'],
  );
  test.each(impossible)('%j is refused', async (created_at) => {
    await expect(verify(envelope({ created_at }))).rejects.toMatchObject({ code: 'envelope_invalid' });
  });

  test('of whatever text is refused, or is held against the age limit', async () => {
    const digits = fc.constantFrom(...'0123456789TZ:-+. zt,');
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: digits, maxLength: 30 }),
      fc
        .tuple(fc.nat({ max: CREATED_AT.length }), digits)
        .map(([at, with_]) => CREATED_AT.slice(0, at) + with_ + CREATED_AT.slice(at + 1)),
    );
    await fc.assert(
      fc.asyncProperty(text, async (created_at) => {
        const farFuture = Date.parse('9999-12-31T23:59:59Z') + 86_400_000;
        // Whatever time is understood, it is too old now: were it no time at all, it would pass as fresh.
        await expect(verify(envelope({ created_at }), farFuture, { maxEventAgeMs: 1 })).rejects.toSatisfy(
          (error) => error instanceof EventError && /^(event_too_old|envelope_invalid)$/.test(error.code),
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('age', () => {
  const DAY = 86_400_000;
  const cases: readonly { name: string; age: number; options?: Partial<ReceiverOptions>; code?: string }[] = [
    { name: 'new', age: 0 },
    { name: 'a day, by default', age: DAY },
    { name: 'a day and a millisecond', age: DAY + 1, code: 'event_too_old' },
    {
      name: 'retentionMs, where maxEventAgeMs is not given',
      age: 2 * DAY,
      options: { retentionMs: 2 * DAY },
    },
    { name: 'over retentionMs', age: 2 * DAY + 1, options: { retentionMs: 2 * DAY }, code: 'event_too_old' },
    { name: 'maxEventAgeMs', age: 5_000, options: { maxEventAgeMs: 5_000 } },
    { name: 'over maxEventAgeMs', age: 5_001, options: { maxEventAgeMs: 5_000 }, code: 'event_too_old' },
    { name: 'a century under Infinity', age: 36_525 * DAY, options: { maxEventAgeMs: Infinity } },
    { name: '5 minutes in the future', age: -300_000 },
    { name: 'over 5 minutes in the future', age: -300_001, code: 'event_in_future' },
  ];
  test.each(cases)('$name: $code', async ({ age, options, code }) => {
    const body = envelope({});
    const verified = verify(body, NOW + age, options);
    if (code === undefined) await expect(verified).resolves.toEqual(members);
    else await expect(verified).rejects.toMatchObject({ name: 'EventError', code });

    const seen: string[] = [];
    const receiver = receiverAt(NOW + age, { store: createMemoryStore(), ...options });
    receiver.on('*', ({ id }) => seen.push(id));
    const reply = await receiver.receive(deliveryOf(body));
    expect(reply.status).toBe(code === undefined ? 200 : 400);
    expect(seen).toEqual(code === undefined ? ['evt_1'] : []);
    if (code !== undefined) expect(JSON.parse(reply.body)).toMatchObject({ status: 400, code });
  });
});
