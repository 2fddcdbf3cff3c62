import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createReceiver } from '../../../src/index.ts';
import { createBullWorker } from '../../../src/queues/bullmq/index.ts';
import { replaceClock } from '../../../src/receiver/timing/process-clock.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';

test('a worker whose connection BullMQ refuses does not sweep failed jobs', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const connection = new Redis({ host: '127.0.0.1', port, lazyConnect: true });
  const setInterval = vi.fn(globalThis.setInterval);
  const putBack = replaceClock({ setInterval });
  onTestFinished(() => {
    connection.disconnect();
    server.close();
    putBack();
  });
  const receiver = createReceiver({ signingKey: 'k', deadLetters: createMapDeadLetters() });
  expect(() => createBullWorker(receiver, { connection, scope: 'test' })).toThrow('maxRetriesPerRequest');
  // A sweep would run every minute, and nobody could stop it.
  expect(setInterval).not.toHaveBeenCalledWith(expect.any(Function), 60_000);
});
