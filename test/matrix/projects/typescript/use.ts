import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, PermanentError, type Report } from 'posthorn';
import { createClient, ServiceError } from 'posthorn/client';
import { toExpress } from 'posthorn/express';
import { toFetch } from 'posthorn/fetch';
import { createFileDeadLetters } from 'posthorn/file';
import { toNode } from 'posthorn/node';
import { createRedisStore } from 'posthorn/redis';
import { createSandbox } from 'posthorn/sandbox';
import { createEvent, deliver, storeConformance } from 'posthorn/testing';

const receiver = createReceiver({ signingKey: 'k', deadLetters: createFileDeadLetters('letters') });
receiver.on('transfer.succeeded', (event) => {
  const amount: number | undefined = event.data.amount;
  throw new PermanentError(`no retry helps with ${amount}`);
});
// @ts-expect-error no such type of event
const misspelt = (): unknown => receiver.on('transfer.succeded', () => {});
receiver.observe(({ outcome, code }: Report) => console.log(outcome, code));
const verified = (request: Request): unknown => receiver.verify('', request.headers);
const receive: (request: Request) => Promise<Response> = toFetch(receiver);
void [
  misspelt,
  verified,
  receive,
  toExpress,
  createRedisStore,
  createClient,
  ServiceError,
  createSandbox,
  storeConformance,
];

const server = createServer(toNode(receiver)).listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as AddressInfo;
  await deliver(`http://127.0.0.1:${port}`, createEvent('transfer.succeeded'), { key: 'k' });
  server.close();
});
