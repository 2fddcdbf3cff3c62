import { createReceiver, PermanentError, type ReceiverOptions } from 'posthorn';
import { toNode } from 'posthorn/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { readAll } from '../../support/read-all.ts';
import { throwing } from '../../support/throwing.ts';
import { createWebhook, openSandbox, retrieveWebhook } from './opened-sandbox.ts';

type Limits = Pick<ReceiverOptions, 'deadlineMs' | 'maxRunMs'>;

async function receive(
  handler: () => unknown,
  limits: Limits = {},
): Promise<{
  readonly send: (id: string) => void;
  readonly advance: (ms: number) => Promise<void>;
  readonly attempts: (event: string) => (number | undefined)[];
  readonly parked: () => Promise<string[]>;
  readonly enabled: () => Promise<boolean>;
}> {
  const opened = await openSandbox();
  const { sandbox } = opened;
  const deadLetters = createMapDeadLetters();
  let key = '';
  const receiver = createReceiver({
    signingKey: async () => key,
    deadLetters,
    now: sandbox.clock.now,
    ...limits,
  });
  receiver.on('transfer.*', handler).on('dispute.*', () => {});
  receiver.observe(() => {});
  const url = await listenUntilTheEnd(toNode(receiver));
  onTestFinished(async () => {
    await sandbox.close();
    await receiver.close({ graceMs: 0 });
  });
  const { id, secret_signing_key } = await createWebhook(opened, `{"url":"${url}/"}`);
  key = secret_signing_key;
  return {
    send: (event) => void sandbox.send({ type: 'transfer.created', id: event }),
    advance: sandbox.clock.advance,
    attempts: (event) => sandbox.deliveries({ event }).map(({ status }) => status),
    parked: async () => (await readAll(deadLetters.list())).map((letter) => letter.id).sort(),
    enabled: async () => (await retrieveWebhook(opened, id)).enabled,
  };
}

const HOUR_MS = 3_600_000;

describe('a receiver with dead letters is never given up by the service', () => {
  test('when its handler always throws', async () => {
    const { send, advance, attempts, parked, enabled } = await receive(throwing('no'));
    send('poison');
    await advance(HOUR_MS);
    expect(attempts('poison')).toEqual([500, 500, 500, 200]);
    expect(await parked()).toEqual(['poison']);
    expect(await enabled()).toBe(true);
    send('later');
    await advance(HOUR_MS);
    expect(attempts('later')).toEqual([500, 500, 500, 200]);
    expect(await parked()).toEqual(['later', 'poison']);
    expect(await enabled()).toBe(true);
  });

  // A fourth is left for the letter: long enough on a busy machine.
  test.each<[string, Limits]>([
    ['the deadline', { deadlineMs: 2_000 }],
    ['maxRunMs', { maxRunMs: 2_000 }],
  ])('when its handler never ends, and %s does', async (_, limits) => {
    const hang = () => new Promise(() => {});
    const { send, advance, attempts, parked, enabled } = await receive(hang, limits);
    send('hanging');
    await advance(HOUR_MS);
    expect(attempts('hanging')).toEqual([503, 503, 503, 200]);
    expect(await parked()).toEqual(['hanging']);
    expect(await enabled()).toBe(true);
  });

  test('when its handler says that no retry can help', async () => {
    const { send, advance, attempts, parked, enabled } = await receive(throwing(new PermanentError('never')));
    send('permanent');
    await advance(HOUR_MS);
    expect(attempts('permanent')).toEqual([200]);
    expect(await parked()).toEqual(['permanent']);
    expect(await enabled()).toBe(true);
  });

  test('when it fails once, and then has the event handled', async () => {
    let runs = 0;
    const { send, advance, attempts, parked } = await receive(() => {
      runs += 1;
      if (runs === 1) throw new Error('not yet');
    });
    send('recovered');
    await advance(HOUR_MS);
    expect(attempts('recovered')).toEqual([500, 200]);
    expect(runs).toBe(2);
    expect(await parked()).toEqual([]);
  });
});
