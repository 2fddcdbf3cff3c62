import { createReceiver, type ReceiverOptions } from 'posthorn';
import { createRedisStore } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { HeldHandler } from '../support/held-handler.ts';
import { KEY, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { isRedisInstalled } from './installed.ts';

const HOUR_MS = 3_600_000;
const MARGIN_MS = 10 * 60_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

describe.skipIf(!isRedisInstalled())('an id is kept in Redis, from its claim on,', () => {
  const fixture = useRedis();

  test.each([
    {
      name: 'for retentionMs, where events of any age are accepted',
      options: { maxEventAgeMs: Number.POSITIVE_INFINITY },
      ageMs: 3 * YEAR_MS,
      keptMs: HOUR_MS,
    },
    {
      name: 'until its event is too old to be accepted again, where that is later',
      options: { maxEventAgeMs: 3 * HOUR_MS },
      ageMs: 0,
      keptMs: 3 * HOUR_MS + MARGIN_MS,
    },
    {
      name: 'for retentionMs, where its event is too old before that time is over',
      options: { maxEventAgeMs: 3 * HOUR_MS },
      ageMs: 2.5 * HOUR_MS,
      keptMs: HOUR_MS,
    },
  ] satisfies { name: string; options: Partial<ReceiverOptions>; ageMs: number; keptMs: number }[])(
    '$name',
    async ({ options, ageMs, keptMs }) => {
      const scope = 'retention';
      const client = await fixture.connect();
      const held = new HeldHandler();
      const store = createRedisStore(client, { scope });
      const deliver = await serve(
        createReceiver({
          signingKey: KEY,
          store,
          retentionMs: HOUR_MS,
          retryScheduleMs: [60_000],
          ...options,
        })
          .on('*', held.handle)
          .observe(() => {}),
      );
      const now = Date.now();
      const event = {
        ...createEvent('transfer.created'),
        created_at: new Date(now - ageMs).toISOString(),
      };
      const expectKept = (): void => {
        const leftMs = Number(fixture.redis.command('pttl', `${scope}:${event.id}`));
        expect(leftMs).toBeLessThanOrEqual(keptMs);
        expect(leftMs).toBeGreaterThan(keptMs - 60_000);
      };
      const answer = deliver(event);
      const call = await Promise.race([held.calls.nth(1), answer]);
      if ('status' in call) throw new Error(`no handler was called: ${JSON.stringify(call)}`);
      expectKept();
      call.succeed();
      expect(await answer).toMatchObject({ status: 200, outcome: 'processed' });
      expectKept();
      expect(await deliver(event)).toMatchObject({ status: 200, outcome: 'duplicate' });
    },
  );
});
