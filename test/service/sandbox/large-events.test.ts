import { describe, expect, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { CONTROL, createWebhook, openSandbox } from './opened-sandbox.ts';

/** The most characters that the bodies of attempts have together. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** A sandbox with a webhook whose endpoint reads everything and keeps nothing. */
async function openWithWebhook() {
  const opened = await openSandbox();
  const url = await listenUntilTheEnd((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await createWebhook(opened, `{"url":"${url}"}`);
  return opened;
}

describe('a large event', () => {
  test('is refused with more copies than fit into memory, and has not happened', async () => {
    const { call, sandbox } = await openWithWebhook();
    const long = 'x'.repeat(7_900_000);
    const body = `{"type":"transfer.created","id":"e","duplicates":100,"data":{"long":"${long}"}}`;
    expect(await call('POST', '/sandbox/events', CONTROL, body)).toMatchObject({
      status: 413,
      body: { details: expect.stringMatching(/^101 deliveries of 79\d{5} characters .*fewer duplicates/) },
    });
    await sandbox.settled();
    expect(sandbox.deliveries()).toEqual([]);
    expect((await call('GET', '/sandbox/events/e')).status).toBe(404);
  });

  test('is sent with as many copies as fit', async () => {
    const { sandbox } = await openWithWebhook();
    const long = 'x'.repeat(MAX_CHARACTERS / 4 - 1_000);
    sandbox.send({ type: 'transfer.created', duplicates: 3, data: { long } });
    await sandbox.settled();
    expect(sandbox.deliveries()).toHaveLength(4);
    expect(() => sandbox.send({ type: 'transfer.created', duplicates: 4, data: { long } })).toThrow(
      'Too many large',
    );
  });

  test('takes the place of older attempts', async () => {
    const { sandbox } = await openWithWebhook();
    for (const id of ['first', 'second', 'third']) {
      sandbox.send({ type: 'transfer.created', id, data: { long: 'x'.repeat(MAX_CHARACTERS / 2 - 1_000) } });
      await sandbox.settled();
    }
    expect(sandbox.deliveries().map(({ event }) => event)).toEqual(['second', 'third']);
    sandbox.send({ type: 'transfer.created', id: 'last', data: { long: 'x'.repeat(MAX_CHARACTERS) } });
    await sandbox.settled();
    expect(sandbox.deliveries().map(({ event }) => event)).toEqual(['last']);
  });
});
