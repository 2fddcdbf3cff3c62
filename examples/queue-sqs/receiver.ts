// The receiver that server.ts and worker.ts share. QUEUE_URL is the address of a queue in Amazon SQS, whose
// settings are in sqs-queue.ts; the region and the credentials are those of the AWS SDK. REDIS_URL has the
// ids.

import { setTimeout as sleep } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import { createReceiver, type Queue, type Receiver } from 'posthorn';
import { authentication, printEvent, signingKey } from '../environment.ts';
import { createRedisParts } from '../redis-parts.ts';
import { createSqsQueue, type SqsPlace } from './sqs-queue.ts';

const { store, deadLetters } = await createRedisParts(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');

/** The place of the queue, for the worker as well. */
export const place: SqsPlace = { client: new SQSClient(), QueueUrl: process.env.QUEUE_URL ?? '' };

export const queue: Queue = createSqsQueue(place.client, place.QueueUrl);

export const receiver: Receiver = createReceiver({
  signingKey,
  authentication,
  maxBodyBytes: 700_000, // a longer one would not fit into a message
  store,
  deadLetters,
  queue,
}).on(
  '*',
  async (event, { signal }) => {
    await sleep(1_000, undefined, { signal }); // longer work would exceed the service's time limit
    printEvent(event);
  },
  { name: 'print', queue: true },
);
