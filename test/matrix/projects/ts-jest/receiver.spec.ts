import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, PermanentError, type WebhookEvent } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';

let server: Server;
afterEach(() => void server.close());

test('handles a signed event', async () => {
  const events: WebhookEvent[] = [];
  const receiver = createReceiver({ signingKey: 'k' })
    .on('transfer.succeeded', (event) => void events.push(event))
    .on('dispute.created', () => {
      throw new PermanentError('no retry helps');
    })
    .observe(() => {});
  server = createServer(toNode(receiver));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const event = createEvent('transfer.succeeded');
  const response = await deliver(url, event, { key: 'k' });
  expect(await response.json()).toEqual({ outcome: 'processed', id: event.id });
  expect(events).toEqual([event]);
});
