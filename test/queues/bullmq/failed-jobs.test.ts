import { EventEmitter } from 'node:events';
import { createEvent } from 'posthorn/testing';
import { expect, test, vi } from 'vitest';
import { FailedJobSweeper } from '../../../src/queues/bullmq/failed-jobs.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';

const event = createEvent('transfer.succeeded');
const data = {
  version: 1,
  id: event.id,
  type: event.type,
  rawBody: Buffer.from(JSON.stringify(event)).toString('base64'),
  headers: {},
  receivedAt: 1,
  handled: [],
};

test.each([
  { what: 'is parked, and removed once its letter is stored', outcome: 'parked', removed: ['1', '2'] },
  { what: 'was handled meanwhile', outcome: 'duplicate', removed: ['1', '2'] },
  { what: 'could not be parked, which ends the sweep', calls: 1, outcome: 'failed', removed: [] },
  { what: 'the receiver cannot read', canRead: false, calls: 0, outcome: 'parked', removed: [] },
  { what: 'an operator has just retried', isFailed: false, calls: 0, outcome: 'parked', removed: [] },
  { what: 'another worker has removed', isThere: false, calls: 0, outcome: 'parked', removed: [] },
])('a failed job that $what', async ({ outcome, removed, ...row }) => {
  const { canRead = true, isFailed = true, isThere = true, calls = 2 } = row;
  const dispatch = vi.fn(async () => Object({ outcome }));
  const read: string[] = [];
  const gone: string[] = [];
  const job = {
    data,
    attemptsMade: 0,
    failedReason: 'run_timeout: it took too long',
    progress: { handled: ['log'] },
    isFailed: async () => isFailed,
  };
  const queue = Object.assign(new EventEmitter(), {
    getRanges: async () => ['1', '2'],
    getJob: async (id: string) => {
      read.push(id);
      return isThere ? Object(job) : undefined;
    },
    remove: async (id: string) => gone.push(id),
    close: async () => {},
    disconnect: async () => {},
  });
  const errors: unknown[] = [];
  const deadLetters = createMapDeadLetters();
  const receiver = { dispatch, deadLetters, canDispatch: () => canRead };
  const sweeper = new FailedJobSweeper(queue, receiver, (error) => errors.push(error));
  await sweeper.close();
  sweeper.stop();
  const failure = { code: 'run_timeout', message: 'it took too long' };
  const options = { attempt: 1, final: true, failure, handled: ['log'] };
  expect(read).toHaveLength(outcome === 'failed' ? 1 : 2);
  expect(dispatch.mock.calls).toEqual(Array.from({ length: calls }, () => [data, options]));
  expect([gone.toSorted(), errors]).toEqual([removed, []]);
});
