import { createReceiver, type ReceiverOptions } from 'posthorn';
import { createPostgresStore } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { KEY, serve } from '../redis/deliveries.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { usePostgres } from './fixture.ts';
import { isPostgresInstalled } from './installed.ts';

const HOUR_MS = 3_600_000;
const MARGIN_MS = 10 * 60_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

describe.skipIf(!isPostgresInstalled())('an id is kept in PostgreSQL, from its claim on,', () => {
  const fixture = usePostgres();

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
      const client = fixture.connect();
      const held = new HeldHandler();
      const store = createPostgresStore(client, { scope });
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
        const left = 'select extract(epoch from expires_at - now()) * 1000 from posthorn.events';
        const leftMs = Number(
          fixture.postgres.sql(`${left} where scope = '${scope}' and key = '${event.id}'`),
        );
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
