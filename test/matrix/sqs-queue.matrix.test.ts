import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DeadLetter, QueuedJob } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createSqsQueue, runSqsWorker } from '../../examples/queue-sqs/sqs-queue.ts';
import { type ChildProgram, startCommand } from '../support/child-program.ts';
import { shutGate } from '../support/gate.ts';
import { type LinkedPackage, linkPackage } from '../support/installed-package.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { on, openDirectly } from '../support/open-endpoint.ts';
import { until } from '../support/until.ts';
import { nodeProgram } from './runtime.ts';

const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
const EMULATOR = `
  import { startFauxqs } from 'fauxqs';
  console.log('listening', (await startFauxqs({ port: 0, logger: false })).port);`;
let emulator: ChildProgram;
let installed: LinkedPackage;
let client: SQSClient;
/** The names of the commands that were sent. */
const sent: string[] = [];

beforeAll(async () => {
  installed = linkPackage('--ignore-scripts', 'fauxqs@2.4.1');
  // The emulator needs Node.js 22.
  const args = ['--input-type=module', '--eval', EMULATOR];
  emulator = startCommand(nodeProgram('22.23.3'), args, { PATH: process.env.PATH }, installed.project);
  const [port] = /\d+$/.exec(await emulator.line(/^listening \d+$/)) ?? [];
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  client = new SQSClient({ endpoint: `http://127.0.0.1:${port}`, region: 'eu-central-1', credentials });
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        sent.push(String(commandName));
        return next(args);
      },
    { step: 'initialize' },
  );
});

afterAll(async () => {
  client?.destroy();
  emulator.kill('SIGKILL');
  await emulator.exit;
  installed.remove();
});

/** A receiver and its two workers: a job has two attempts, some seconds apart. */
async function openQueue(handle: (attempt: number) => unknown, visibilitySeconds = 1) {
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: crypto.randomUUID() }));
  const queue = createSqsQueue(client, QueueUrl);
  const jobs: QueuedJob[] = [];
  const letters = new Map<string, DeadLetter>();
  const { receiver, reports, send } = openDirectly(
    {
      deadLetters: createMapDeadLetters(letters),
      queue: {
        ...queue,
        add: (job) => {
          jobs.push(job);
          return queue.add(job);
        },
      },
    },
    on('*', (_event, { attempt }) => handle(attempt), { name: 'book', queue: true }),
  );
  const stop = new AbortController();
  const place = { client, QueueUrl, visibilitySeconds, attempts: 2 };
  const workers = [1, 2].map(() => runSqsWorker(receiver, place, stop.signal));
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(workers);
  });
  const event = createEvent('transfer.succeeded');
  expect(await send(event)).toMatchObject({ status: 202, body: { outcome: 'queued' } });
  /** Waits until the workers have nothing left, and tells the outcomes of their runs. */
  const outcomes = async (): Promise<readonly string[]> => {
    await until('the queue is empty', async () => {
      const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...COUNTS] });
      const { Attributes = {} } = await client.send(asked);
      return COUNTS.every((name) => Attributes[name] === '0');
    });
    return reports.all.filter(({ source }) => source === 'job').map(({ outcome }) => outcome);
  };
  return { queue, jobs, letters, event, reports, outcomes };
}

describe('the queue of Amazon SQS in examples/queue-sqs, on an emulator', () => {
  test('a job runs once, and is removed; so is one that is added again', async () => {
    const attempts: number[] = [];
    const { queue, jobs, outcomes } = await openQueue((attempt) => attempts.push(attempt));
    expect(await outcomes()).toEqual(['processed']);
    for (const job of jobs) await queue.add(job);
    expect(await outcomes()).toEqual(['processed', 'duplicate']);
    expect(attempts).toEqual([1]);
  });

  test('a job that fails comes again, and is parked at the last attempt', async () => {
    const attempts: number[] = [];
    const { event, letters, outcomes } = await openQueue((attempt) => {
      attempts.push(attempt);
      throw new Error('the ledger is locked');
    });
    expect(await outcomes()).toEqual(['failed', 'parked']);
    expect(attempts).toEqual([1, 2]);
    expect(letters.get(event.id)).toMatchObject({ reason: 'handler_failed', attempts: 2 });
  });

  test('a job that takes longer than its visibility timeout is not handed out meanwhile', async () => {
    const attempts: number[] = [];
    const extensions = (): number => sent.filter((name) => name === 'ChangeMessageVisibilityCommand').length;
    const before = extensions();
    const { outcomes } = await openQueue(async (attempt) => {
      attempts.push(attempt);
      // One comes in each half of the timeout.
      await until('the timeout is extended three times', () => extensions() >= before + 3);
    }, 4);
    expect(await outcomes()).toEqual(['processed']);
    expect(attempts).toEqual([1]);
  });

  test('a job whose event is being handled comes again when it has been', async () => {
    const gate = shutGate();
    const { queue, jobs, reports, outcomes } = await openQueue(gate.pass);
    for (const job of jobs) await queue.add(job);
    await reports.first(({ source, outcome }) => source === 'job' && outcome === 'busy');
    gate.open();
    const ended = (await outcomes()).filter((outcome) => outcome !== 'busy');
    expect(ended).toEqual(['processed', 'duplicate']);
    expect(gate.held.all).toHaveLength(1);
  });

  test('a job beyond the limit of a message is refused', async () => {
    const { queue, jobs, outcomes } = await openQueue(() => {});
    expect(await outcomes()).toEqual(['processed']);
    const [job] = jobs;
    const large = JSON.stringify({ ...job?.toJSON(), rawBody: Buffer.alloc(790_000).toString('base64') });
    await expect(queue.add(JSON.parse(large))).rejects.toThrow(/1048576/);
  });
});
