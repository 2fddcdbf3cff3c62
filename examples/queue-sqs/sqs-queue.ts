// A queue in Amazon SQS: a standard queue, and `@aws-sdk/client-sqs`.
//
// - A job has ten attempts in about four hours: after a failure it comes again after a minute, then two, and
//   so on up to an hour. If a worker dies, it comes again within 30 seconds.
// - SQS counts each receive as an attempt, also that of a `busy` job, of a worker that closes, and one that
//   got lost on its way. So a job may have fewer than ten runs, and a key that stays busy uses up attempts.
// - Set `maxReceiveCount` of the redrive policy to 100, far above `attempts`: SQS moves a message that
//   exceeds it without a run, so it gets no dead letter.
// - Set `MessageRetentionPeriod` to 14 days, the most, and watch the age of the oldest message: SQS deletes a
//   message after four days by default, without a dead letter.
// - A message has 1 MiB at most, and in older queues 262,144 bytes (`MaximumMessageSize`). A job takes four
//   thirds of its body, and its headers, so set `maxBodyBytes: 700_000` of the receiver: a longer body would
//   be answered 503 each time.
// - The queue may hold a job twice; the store then says `duplicate`. A handler that has finished runs again
//   if the worker dies before the others end. A job that kills its worker takes those beside it along until
//   its last attempt.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Queue, Receiver } from 'posthorn';

/** Creates the queue of receivers, also of those in workers. Its `close` destroys the client. */
export const createSqsQueue = (client: SQSClient, QueueUrl: string): Queue => ({
  add: (job) => client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(job) })),
  close: async () => client.destroy(),
});

/** The place of a queue, and the limits of its jobs. */
export interface SqsPlace {
  readonly client: SQSClient;
  readonly QueueUrl: string;
  /** The time for which a message is hidden, which is extended while its job runs; 30 by default. */
  readonly visibilitySeconds?: number;
  /** The number of the last attempt; 10 by default. */
  readonly attempts?: number;
}

/** Runs one job at a time until the signal aborts. Call it as often as jobs are to run at once. */
export async function runSqsWorker(
  receiver: Pick<Receiver, 'dispatch'>,
  place: SqsPlace,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await runNext(receiver, place, signal);
    } catch (error) {
      if (signal.aborted) return;
      console.error(error);
      await sleep(1_000);
    }
  }
}

async function runNext(
  receiver: Pick<Receiver, 'dispatch'>,
  { client, QueueUrl, visibilitySeconds = 30, attempts = 10 }: SqsPlace,
  signal: AbortSignal,
): Promise<void> {
  const receive = new ReceiveMessageCommand({
    QueueUrl,
    WaitTimeSeconds: 20,
    VisibilityTimeout: visibilitySeconds,
    MessageSystemAttributeNames: ['ApproximateReceiveCount'],
  });
  const { Messages: [message] = [] } = await client.send(receive, { abortSignal: signal });
  if (message === undefined) return;
  const { Body = '', ReceiptHandle, Attributes } = message;
  const hide = (VisibilityTimeout: number) =>
    client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
  const job: unknown = JSON.parse(Body);
  const attempt = Number(Attributes?.ApproximateReceiveCount);
  const extension = setInterval(() => hide(visibilitySeconds).catch(console.error), visibilitySeconds * 500);
  const run = receiver.dispatch(job, { attempt, final: attempt >= attempts });
  const { outcome } = await run.finally(() => clearInterval(extension));
  if (outcome === 'busy') return; // it comes again when its visibility timeout is over
  if (outcome === 'failed') await hide(Math.min(visibilitySeconds * 2 ** attempt, 3_600));
  else await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
}
