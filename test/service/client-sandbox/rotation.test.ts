import type { Authentication, Client, RotatedWebhook, RotateOptions } from 'posthorn/client';
import type { Sandbox } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { readAll } from '../../support/read-all.ts';
import type { Death, Gateway } from './gateway.ts';
import { type Receiving, receive } from './receiving.ts';
import { openService } from './service.ts';
import { type Stream, startStream } from './stream.ts';

const BASIC: Authentication = { type: 'BASIC', basic: { username: 'ann', password: 'secret' } };

interface Rotation {
  readonly client: Client;
  readonly sandbox: Sandbox;
  readonly gateway: Gateway;
  readonly receiving: Receiving;
  readonly stream: Stream;
  /** The id of the webhook whose key is rotated. */
  readonly id: string;
  /** What `onSigningKey` was given, each time. */
  readonly stored: { readonly id: string; readonly signingKey: string }[];
  readonly rotate: (resume?: RotateOptions['resume']) => Promise<RotatedWebhook>;
}

/** A receiver under a stream of events, with more of them at every step of whatever the client does. */
async function prepare(): Promise<Rotation> {
  const { client, sandbox, gateway } = await openService();
  const receiving = await receive(sandbox, BASIC);
  const { id, secret_signing_key } = await client.webhooks.create({
    url: receiving.url,
    authentication: BASIC,
    enabled_events: [{ entity: 'transfer', types: [] }],
  });
  receiving.keys.push(secret_signing_key);
  const stream = startStream(sandbox, receiving);
  gateway.onStep(stream.send);
  const stored: Rotation['stored'] = [];
  const rotate: Rotation['rotate'] = (resume) =>
    client.webhooks.rotate(id, {
      onSigningKey: (signingKey, webhook) => {
        stored.push({ id: webhook.id, signingKey });
        receiving.keys.push(signingKey);
      },
      resume,
    });
  return { client, sandbox, gateway, receiving, stream, id, stored, rotate };
}

/**
 * What all rotations end in: one webhook is enabled, its key is enough, and no event was lost or handled
 * twice.
 */
async function expectRotated(rotation: Rotation, rotated: RotatedWebhook): Promise<void> {
  const { client, sandbox, receiving, stream, id, stored } = rotation;
  const { webhook, previous, signingKey } = rotated;
  expect(stored).toContainEqual({ id: webhook.id, signingKey });
  expect(previous).toMatchObject({ id, enabled: false });
  expect(webhook).toMatchObject({
    url: receiving.url,
    authentication: BASIC,
    enabled_events: [{ entity: 'transfer', types: [] }],
    enabled: true,
  });
  const enabled = (await readAll(client.webhooks.listAll())).filter((one) => one.enabled);
  expect(enabled.map((one) => one.id)).toEqual([webhook.id]);
  await sandbox.settled();
  await sandbox.clock.advance(3_600_000);
  receiving.keys.splice(0, receiving.keys.length, signingKey);
  stream.send();
  await stream.expectEachOnce();
  expect(stream.ids.length).toBeGreaterThan(10);
}

describe('a rotation under a stream of events loses none and has none handled twice', () => {
  test('from the first step to the last', async () => {
    const rotation = await prepare();
    await expectRotated(rotation, await rotation.rotate());
  });

  test('three times in a row', async () => {
    const rotation = await prepare();
    const first = await rotation.rotate();
    const { onSigningKey } = { onSigningKey: (key: string) => void rotation.receiving.keys.push(key) };
    const second = await rotation.client.webhooks.rotate(first.webhook.id, { onSigningKey });
    const third = await rotation.client.webhooks.rotate(second.webhook.id, { onSigningKey });
    rotation.stored.push({ id: third.webhook.id, signingKey: third.signingKey });
    const previous = await rotation.client.webhooks.retrieve(rotation.id);
    await expectRotated(rotation, { ...third, previous });
  });

  // The requests of a rotation: retrieve, list, create, disable, enable, disable the old one.
  const steps = ['retrieve', 'list', 'create', 'disable the new one', 'enable it', 'disable the old one'];
  const deaths = steps.flatMap((step, index) =>
    [false, true].map((carriedOut) => ({ step, at: index + 1, carriedOut })),
  );

  describe.each(deaths)('broken off at $step (carried out: $carriedOut)', (death) => {
    test('and gone on with: with the key if it was stored, else from the start', async () => {
      const rotation = await prepare();
      await breakOff(rotation, death);
      const resume = rotation.stored.at(-1);
      expect(resume !== undefined).toBe(death.at > 4);
      await expectRotated(rotation, await rotation.rotate(resume));
    });
  });

  const deathsWithKey = deaths.filter(({ at }) => at > 4);
  describe.each(deathsWithKey)('broken off at $step (carried out: $carriedOut)', (death) => {
    test('and gone on with without the key', async () => {
      const rotation = await prepare();
      await breakOff(rotation, death);
      const isOver = death.at === steps.length && death.carriedOut;
      if (isOver) {
        await expect(rotation.rotate()).rejects.toMatchObject({ code: 'webhook_disabled' });
        await expectRotated(rotation, await rotation.rotate(rotation.stored.at(-1)));
      } else {
        await expectRotated(rotation, await rotation.rotate());
      }
    });
  });

  test('whose onSigningKey fails at first', async () => {
    const rotation = await prepare();
    const onSigningKey = () => Promise.reject(new Error('the vault is sealed'));
    await expect(rotation.client.webhooks.rotate(rotation.id, { onSigningKey })).rejects.toThrow('sealed');
    await expectRotated(rotation, await rotation.rotate());
  });
});

async function breakOff({ gateway, rotate }: Rotation, death: Death): Promise<void> {
  gateway.dieAt(death);
  await expect(rotate()).rejects.toThrow();
  gateway.dieAt(undefined);
}
