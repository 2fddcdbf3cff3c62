import { type DeadLetter, defineProvider } from 'posthorn';
import { expect } from 'vitest';
import { createService, serviceParts } from '../../src/providers/banking-service/service.ts';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { handledEntry } from '../support/handled-entry.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { failures } from './failures.ts';
import { rejections } from './rejections.ts';
import { bearer } from './secrets.ts';
import {
  authorized,
  failing,
  failLate,
  holding,
  json,
  LAST_MS,
  parking,
  type Situation,
  secretEvent,
} from './situation.ts';

const service = createService(serviceParts);

const booking: Situation['register'] = (receiver) => receiver.on('*', () => {}, { name: 'book' });

const others: readonly Situation[] = [
  {
    name: 'processed',
    expected: { outcome: 'processed', status: 200 },
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'duplicate',
    expected: { outcome: 'duplicate', status: 200 },
    run: async ({ send }) => {
      const event = secretEvent();
      await send(event);
      await send(event, { authentication: bearer });
    },
  },
  {
    name: 'ignored',
    expected: { outcome: 'ignored', status: 200 },
    register: (receiver) => receiver.on('dispute.won', () => {}),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'queued',
    expected: { outcome: 'queued', status: 202 },
    options: () => ({ queue: new ListQueue() }),
    register: (receiver) => receiver.on('*', () => {}, { name: 'book', queue: true }),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'handshake',
    expected: { outcome: 'handshake', status: 200 },
    options: () => ({ provider: defineProvider({ ...service, name: 'asks', handshake: () => 'hello' }) }),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'a dead letter of another provider',
    expected: { outcome: 'failed', code: 'provider_mismatch', source: 'replay' },
    options: parking,
    register: failing,
    run: async ({ receiver, send }) => {
      const event = secretEvent(LAST_MS);
      await send(event);
      const letter = await receiver.deadLetters?.get(event.id);
      if (letter !== undefined) await receiver.replay({ ...letter, provider: 'another' });
    },
  },
  {
    name: 'accepted',
    expected: { outcome: 'processed', source: 'accept', acceptedFrom: 'an export' },
    run: async ({ receiver }) => void (await receiver.accept(secretEvent(), { source: 'an export' })),
  },
  {
    name: 'a fetched event that is not one',
    expected: { outcome: 'rejected', code: 'body_not_json', source: 'accept' },
    run: async ({ receiver }) => void (await receiver.accept(`${json},`, { source: 'an export' })),
  },
  {
    name: 'run once more',
    expected: { outcome: 'processed', source: 'rerun', rerun: { run: 'fix', reason: 'a bug' } },
    register: booking,
    run: async ({ receiver }) =>
      void (await receiver.rerun(handledEntry(secretEvent()), {
        handlers: ['book'],
        run: 'fix',
        reason: 'a bug',
      })),
  },
  {
    name: 'an entry without a body',
    expected: { outcome: 'rejected', code: 'body_missing', source: 'rerun' },
    register: booking,
    run: async ({ receiver }) =>
      void (await receiver.rerun(handledEntry(secretEvent(), { rawBody: undefined }), {
        handlers: ['book'],
      })),
  },
  {
    name: 'a rerun of what has not finished',
    expected: { outcome: 'rejected', code: 'handler_unfinished', source: 'rerun' },
    register: booking,
    run: async ({ receiver }) =>
      void (await receiver.rerun(handledEntry(secretEvent(), { handled: [] }), { handlers: ['book'] })),
  },
  {
    name: 'parked',
    expected: { outcome: 'parked', status: 200, code: 'handler_failed', final: true },
    options: parking,
    register: failing,
    run: ({ send }) => send(secretEvent(LAST_MS)),
  },
  {
    name: 'failed, for the last time',
    expected: { outcome: 'failed', code: 'handler_failed', endpointAtRisk: true, final: true },
    register: failing,
    run: ({ send }) => send(secretEvent(LAST_MS)),
  },
  {
    name: 'processed with a warning',
    expected: { outcome: 'processed', warnings: [expect.stringMatching(/^dead_letter_not_stored: /)] },
    options: () => ({ deadLetters: { ...createMapDeadLetters(), put: failLate } }),
    run: ({ send }) => send(secretEvent(LAST_MS)),
  },
  {
    name: 'processed late',
    expected: { outcome: 'processed', late: true },
    options: () => ({ deadlineMs: 100 }),
    register: holding,
    run: async ({ send, held }) => {
      await send(secretEvent());
      held.calls.all[0]?.succeed();
    },
  },
  {
    name: 'replayed',
    expected: { outcome: 'processed', answerSent: false },
    options: parking,
    run: ({ receiver }) => {
      const event = secretEvent(LAST_MS);
      const rawBody = Buffer.from(JSON.stringify(event));
      const times = { receivedAt: Date.now(), parkedAt: Date.now() };
      const about = { id: event.id, type: event.type, reason: 'handler_failed', message: 'm' };
      const letter: DeadLetter = {
        ...about,
        ...times,
        rawBody,
        headers: { authorization: [authorized.authorization] },
        attempts: 4,
        handled: [],
      };
      return receiver.replay(letter);
    },
  },
];

/** Every outcome and every code that a report can have. */
export const situations: readonly Situation[] = [
  ...rejections.map(
    ({ expected, ...rest }): Situation => ({
      ...rest,
      expected: { outcome: 'rejected', code: rest.name, ...expected },
    }),
  ),
  ...failures.map(
    ({ expected, ...rest }): Situation => ({
      ...rest,
      expected: { outcome: 'failed', code: rest.name, ...expected },
    }),
  ),
  ...others,
];
