import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Webhook } from 'posthorn/client';
import type { Sandbox } from 'posthorn/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Receiving, receive } from './receiving.ts';
import { openService } from './service.ts';

const realSetTimeout = timers.setTimeout;
// The client's pause is in real time: here the sandbox's clock goes on by as much, and nobody waits.
const time = { pass: async (_ms: number): Promise<void> => {} };
beforeAll(() => {
  Object.assign(timers, { setTimeout: (ms: number) => time.pass(ms) });
  syncBuiltinESMExports();
});
afterAll(() => {
  Object.assign(timers, { setTimeout: realSetTimeout });
  syncBuiltinESMExports();
});

/** Longer than 1 + 5 + 15 minutes. */
const WHOLE_SCHEDULE_MS = 1_300_000;

interface Rotated {
  readonly sandbox: Sandbox;
  readonly receiving: Receiving;
  readonly previous: Webhook;
  readonly webhook: Webhook;
}

/**
 * Rotates while an event of the old webhook has failed once, and goes on failing until it has so many times.
 */
async function rotateBehindFailures(failures: number, overlapMs: number): Promise<Rotated> {
  const { client, sandbox } = await openService();
  const receiving = await receive(sandbox);
  const { id, secret_signing_key } = await client.webhooks.create({ url: receiving.url });
  receiving.keys.push(secret_signing_key);
  let attempts = 0;
  receiving.onEvent = (event) => {
    if (event !== 'evt_old') return;
    attempts += 1;
    if (attempts <= failures) throw new Error('not yet');
  };
  sandbox.send({ type: 'dispute.created', id: 'evt_old' });
  await sandbox.settled();
  time.pass = async (ms) => {
    sandbox.send({ type: 'dispute.won', id: 'evt_overlap' });
    await sandbox.clock.advance(ms);
  };
  const onSigningKey = (key: string): void => void receiving.keys.push(key);
  const { previous, webhook } = await client.webhooks.rotate(id, { onSigningKey, overlapMs });
  await sandbox.clock.advance(3_600_000);
  expect(previous.enabled).toBe(false);
  expect(webhook.enabled).toBe(true);
  return { sandbox, receiving, previous, webhook };
}

const statuses = (sandbox: Sandbox, event: string, webhook: string): unknown[] =>
  sandbox.deliveries({ event, webhook }).map(({ status }) => status);

describe('retries that are under way when the key is rotated', () => {
  test.each([
    [1, [500, 200]],
    [2, [500, 500, 200]],
    [3, [500, 500, 500, 200]],
  ])(
    'are made during overlapMs, though %i fail, and what comes twice is handled once',
    async (n, answers) => {
      const { sandbox, receiving, previous, webhook } = await rotateBehindFailures(n, WHOLE_SCHEDULE_MS);
      expect(statuses(sandbox, 'evt_old', previous.id)).toEqual(answers);
      expect(statuses(sandbox, 'evt_old', webhook.id)).toEqual([]);
      for (const { id } of [previous, webhook]) expect(statuses(sandbox, 'evt_overlap', id)).toEqual([200]);
      expect(receiving.handled.toSorted()).toEqual(['evt_old', 'evt_overlap']);
    },
  );

  test('are dropped by the sandbox without overlapMs', async () => {
    const { sandbox, receiving, previous, webhook } = await rotateBehindFailures(1, 0);
    expect(statuses(sandbox, 'evt_old', previous.id)).toEqual([500]);
    expect(statuses(sandbox, 'evt_old', webhook.id)).toEqual([]);
    expect(receiving.handled).not.toContain('evt_old');
  });
});
