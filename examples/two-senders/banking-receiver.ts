import { createReceiver, type Queue, type Receiver } from 'posthorn';
import { type BullQueueOptions, createBullQueue } from 'posthorn/bullmq';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { authentication, printEvent, signingKey } from '../environment.ts';
import { queueOf, shared } from './parts.ts';

/** The place of the queue, for the worker as well. */
export const place: BullQueueOptions = queueOf('banking');

export const queue: Queue = createBullQueue(place);

export const receiver: Receiver = createReceiver({
  name: 'banking',
  signingKey,
  authentication,
  ...shared,
  queue,
}).on('transfer.*', printEvent, { name: 'print', queue: true });
observeWithPrometheus(receiver);
