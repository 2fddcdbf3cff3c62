import {
  createMemoryStore,
  DeadLetterError,
  type DeadLetters,
  type HandlerContext,
  type Journal,
} from 'posthorn';
import { expect, test } from 'vitest';
import { skipped } from '../../src/receiver/handling/handlers/named-handler.ts';
import { fakeTime, passUntil } from '../support/fake-time.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { createMapJournal } from '../support/map-journal.ts';
import { throwing } from '../support/throwing.ts';
import { errorsOf, expectDocumented, operations } from './documented.ts';
import { type Asked, fetchOperator } from './mounts.ts';
import { createOperated, idOf, letter, letters, NOW, record } from './operated.ts';
import { deliver } from './sent.ts';

const LETTERS = '/api/dead-letters';
const RERUN = '/api/events/rerun';
const rerun = { handlers: ['book'], run: 'mend' };
const all = { selection: {} };

/** A walk through all routes: the route, what is asked of it, and the status. */
const walk: readonly (readonly [route: string, path: string, status: number, asked?: Asked])[] = [
  ['GET /api/receivers', '/api/receivers', 200],
  ['GET /api/health', '/api/health', 200],
  ['GET /api/deliveries', '/api/deliveries', 200],
  ['GET /api/openapi.json', '/api/openapi.json', 200],
  ['GET /api/dead-letters', LETTERS, 200],
  ['GET /api/dead-letters', `${LETTERS}?limit=2`, 200],
  ['GET /api/dead-letters', `${LETTERS}?limit=0`, 400],
  ['GET /api/dead-letters', `${LETTERS}?receiver=x`, 400],
  ['GET /api/dead-letters/{id}', `${LETTERS}/${idOf(1)}`, 200],
  ['GET /api/dead-letters/{id}', `${LETTERS}/none`, 404],
  ['GET /api/dead-letters/{id}', `${LETTERS}/%ff`, 400],
  ['GET /api/events', '/api/events', 200],
  ['GET /api/events', '/api/events?limit=1', 200],
  ['GET /api/events', '/api/events?outcome=lost', 400],
  ['GET /api/events/{id}', `/api/events/${idOf(1)}`, 200],
  ['GET /api/events/{id}', '/api/events/none', 404],
  ...(['replay', 'drop'] as const).flatMap((deed) => {
    const [route, path] = [`POST ${LETTERS}/${deed}`, `${LETTERS}/${deed}`];
    return [
      [route, path, 200, { body: { ...all, dryRun: true } }],
      [route, path, 200, { body: { ids: [idOf(1), 'none'], dryRun: true } }],
      [route, path, 200, { body: { ids: [...[deed === 'drop' ? 2 : 3, 24, 25].map(idOf), 'none'] } }],
      [route, path, 200, { body: { selection: { type: 'transfer.*', since: 0, until: NOW, reason: 'x' } } }],
      [route, path, 200, { body: { ...all, after: idOf(2) } }],
      [route, path, 400, { body: {} }],
      [route, path, 415, { body: all, headers: { 'content-type': 'text/plain' } }],
      [route, path, 403, { body: all, headers: { origin: 'null' } }],
    ] as const;
  }),
  [`POST ${RERUN}`, RERUN, 200, { body: { ...rerun, ...all, dryRun: true } }],
  [`POST ${RERUN}`, RERUN, 200, { body: { ...rerun, ids: [idOf(1), 'none'] } }],
  [`POST ${RERUN}`, RERUN, 200, { body: { ...rerun, ...all, reason: 'wrong account' } }],
  [`POST ${RERUN}`, RERUN, 400, { body: { ...rerun, ...all, handlers: ['none'] } }],
];

/** A receiver whose dead letters and events have, together, each member that there can be. */
function createVaried() {
  const parked = [
    ...letters(23),
    letter(24, {
      runningUntil: NOW + 1,
      lastTriedAt: NOW,
      account: 'acct_1',
      eventId: 'evt',
      type: undefined,
    }),
    letter(25, { provider: 'another' }),
  ];
  const failed = { outcome: 'failed', code: 'handler_failed', handled: [] } as const;
  const known = { key: 'acct_1 evt_002', account: 'acct_1', createdAt: NOW, resource: 'transfer:1' };
  const records = [record(1), record(2, { ...failed, ...known, rawBody: undefined })];
  const handle = ({ id }: { readonly id: string }): void => {
    if (id === 'evt_failed' || id === idOf(3)) throw new Error('still locked');
  };
  const { receiver } = createOperated({ handle, parked, records });
  const mail = () => skipped('handled_before');
  return receiver.on('*', mail, { name: 'mail', concurrencyKey: ({ id }) => id });
}

test('each answer of a walk through all routes is as documented, and each body that was taken', async () => {
  const receiver = createVaried();
  const ask = fetchOperator(receiver);
  await deliver(receiver, 'evt_1', { 'x-service-signature': ['wrong'] });
  await deliver(receiver, 'evt_new');
  await deliver(receiver, 'evt_failed');
  for (const [route, path, status, asked = {}] of walk) {
    const answer = await ask(path, asked);
    expect(answer.status, `${route} ${answer.text}`).toBe(status);
    expectDocumented(route, answer);
    const request = [...route.split(' ').reverse()].map((part) => part.toLowerCase());
    if (status === 200 && asked.body !== undefined)
      expect(errorsOf(asked.body, ...request, 'requestBody', 'content', 'application/json')).toEqual([]);
  }
  const deliveries = await ask('/api/deliveries');
  const sources = deliveries.body.deliveries?.map(({ source }) => source);
  expect(new Set(sources)).toEqual(new Set(['delivery', 'replay', 'rerun']));
  expectDocumented('GET /api/deliveries', deliveries);
  expect(new Set(walk.map(([route]) => route))).toEqual(new Set(operations));
});

test('the health of a receiver whose store, dead letters and journal are away is as documented', async () => {
  const pass = fakeTime();
  const away = throwing('away');
  let record: Journal['record'] = away;
  const journal: Journal = { ...createMapJournal(), record: (batch) => record(batch) };
  const deadLetters = { ...createMapDeadLetters(), list: away };
  const store = { ...createMemoryStore(), release: away };
  const { receiver } = createOperated({ deadLetters, journal, store });
  await deliver(receiver, 'evt_1');
  await pass(1_000);
  const health = await fetchOperator(receiver)('/api/health');
  record = async () => {};
  await passUntil(pass, receiver.close());
  const isAway = { ok: false, error: expect.anything() };
  expect(health.body).toMatchObject({ store: isAway, deadLetters: isAway, journal: isAway });
  expectDocumented('GET /api/health', health);
});

test('the answer of a deed that audit refuses is as documented', async () => {
  const ask = fetchOperator(createOperated().receiver, { audit: throwing('no disk') });
  const answer = await ask(`${LETTERS}/drop`, { body: { ids: ['x'] } });
  expect(answer.status).toBe(503);
  expectDocumented(`POST ${LETTERS}/drop`, answer);
});

test.each([
  [`${LETTERS}/replay`, all],
  [`${LETTERS}/drop`, all],
  [RERUN, { ...rerun, ...all }],
])('the answer of %s that its store stops is as documented', async (path, body) => {
  const store = { ...createMemoryStore(), claim: throwing('away') };
  const { receiver } = createOperated({ parked: letters(2), records: [record(1)], store });
  const answer = await fetchOperator(receiver)(path, { body });
  expect(answer.body).toMatchObject({ stopped: { id: idOf(1), code: 'store_unavailable' } });
  expectDocumented(`POST ${path}`, answer);
});

test.each([
  [`GET ${LETTERS}`, undefined],
  [`POST ${LETTERS}/drop`, { ...all, dryRun: true }],
  [`POST ${LETTERS}/drop`, all],
])('the answer of %s that names a damaged dead letter is as documented', async (route, body) => {
  const map = createMapDeadLetters(new Map([[idOf(1), letter(1)]]));
  const deadLetters: DeadLetters = {
    ...map,
    async *list(options) {
      yield* map.list(options);
      throw new DeadLetterError('dead_letter_unreadable', 'evt_000 is damaged');
    },
  };
  const [, path = ''] = route.split(' ');
  const answer = await fetchOperator(createOperated({ deadLetters }).receiver)(path, { body });
  expect(answer.body).toMatchObject({ unreadable: 'evt_000 is damaged' });
  expectDocumented(route, answer);
});

test('the dry run of a rerun with each prospect is as documented', async () => {
  const held = new HeldHandler();
  const handle = (event: { readonly id: string }, context: HandlerContext) =>
    event.id === idOf(2) ? held.handle(event, context) : undefined;
  const records = [record(1), record(2), record(3), record(4, { handled: [] })];
  const { receiver } = createOperated({ records, handle });
  await receiver.rerun(record(1), rerun);
  const running = receiver.rerun(record(2), rerun);
  const call = await held.calls.nth(1);
  const body = { ...rerun, ids: [1, 2, 3, 4, 5].map(idOf), dryRun: true };
  const answer = await fetchOperator(receiver)(RERUN, { body });
  call.succeed();
  await running;
  const prospects = ['done', 'running', 'wouldRun', 'refused', 'missing'];
  expect(answer.body).toMatchObject({ counts: prospects.map((prospect) => ({ prospect, count: 1 })) });
  expectDocumented(`POST ${RERUN}`, answer);
});
