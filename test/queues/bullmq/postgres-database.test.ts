import { EventEmitter } from 'node:events';
import { DatabaseError } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { QueueDatabase } from '../../../src/queues/bullmq/postgres/database.ts';
import type { QueueClient, QueuePool } from '../../../src/queues/bullmq/postgres/pool.ts';
import { runQuery } from '../../../src/queues/bullmq/postgres/queryable.ts';
import { QueueSession } from '../../../src/queues/bullmq/postgres/session.ts';
import { fakeTime } from '../../support/fake-time.ts';

type Answer = Error | undefined;

/** A database whose tables are right, and that answers all other statements by `answer`. */
function openDatabase(answer: () => Answer) {
  const sent: string[] = [];
  const printed: unknown[] = [];
  const released: unknown[] = [];
  let isAway = false;
  const query: QueueClient['query'] = async (statement) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    const isLook = /migration|current_schema/.test(text);
    if (!isLook) sent.push(text);
    const error = isLook ? undefined : answer();
    if (error !== undefined) throw error;
    const row = { version: 11, min_client_version: 6, server_version_num: '150018', schema: 'bullmq' };
    return { command: 'SELECT', rowCount: 1, rows: [row] };
  };
  const client: QueueClient & EventEmitter = Object.assign(new EventEmitter(), {
    query,
    release: (isClosed: unknown) => released.push(isClosed),
  });
  const pool: QueuePool = {
    totalCount: 1,
    connect: (callback) => {
      if (isAway) callback(new Error('connect ECONNREFUSED'), undefined);
      else callback(undefined, client);
    },
    on: () => {},
    removeListener: () => {},
  };
  const database = new QueueDatabase(pool, (error) => printed.push(error));
  onTestFinished(() => database.close());
  const setAway = (value: boolean): void => {
    isAway = value;
  };
  return { client, database, released, sent, printed, setAway };
}

function refusal(code: string): Error {
  const error = new DatabaseError(`refused by ${code}`, 1, 'error');
  return Object.assign(error, { severity: 'ERROR', code });
}

describe('a statement of a worker', () => {
  test('waits while PostgreSQL is away, and is sent once it is back', async () => {
    const pass = fakeTime();
    const { database, sent, setAway } = openDatabase(() => undefined);
    setAway(true);
    const answered = database.runUntilAnswered('select move_to_delayed($1)');
    await pass(60_000);
    expect(sent).toEqual([]);
    setAway(false);
    await pass(1_200);
    await answered;
    expect(sent).toEqual(['select move_to_delayed($1)']);
  });

  test.each([
    ['extend_lock', true],
    ['extend_locks', true],
    ['update_progress', true],
    ['move_to_completed', false],
  ])('%s is given up once the lock of its job may have run out: %s', async (name, isGivenUp) => {
    const pass = fakeTime();
    const { database, sent, setAway } = openDatabase(() => undefined);
    setAway(true);
    const answered = database.runUntilAnswered(`select ${name}($1)`).then(
      () => 'answered',
      (error: Error) => error.constructor.name,
    );
    await pass(16_000);
    setAway(false);
    await pass(2_000);
    expect(await answered).toBe(isGivenUp ? 'LateStatementError' : 'answered');
    expect(sent).toHaveLength(isGivenUp ? 0 : 1);
  });

  test.each(['25006', '53100', '40P01', '55P03', '57014'])(
    'is tried again ten times a second at most while PostgreSQL refuses it by %s and answers the looks',
    async (code) => {
      const pass = fakeTime();
      let answer: Answer = refusal(code);
      const { database, sent, printed } = openDatabase(() => answer);
      const answered = database.runUntilAnswered('select move_to_active($1)');
      await pass(10_000);
      expect(sent.length).toBeGreaterThan(10);
      expect(sent.length).toBeLessThanOrEqual(101);
      expect(printed).toContain(answer);
      answer = undefined;
      await pass(200);
      await answered;
    },
  );

  test.each([
    ['42501', 1_000],
    ['BM001', 0],
  ])('that is refused by %s fails after %i ms, because BullMQ tries again at once', async (code, pauseMs) => {
    const pass = fakeTime();
    const { database, sent } = openDatabase(() => refusal(code));
    let isSettled = false;
    const failed = database.runUntilAnswered('select move_to_active($1)').catch((error: Error) => {
      isSettled = true;
      return error.message;
    });
    await pass(Math.max(pauseMs - 100, 40));
    expect(isSettled).toBe(pauseMs === 0);
    await pass(200);
    expect(await failed).toBe(`refused by ${code}`);
    expect(sent).toHaveLength(1);
  });

  test('that waits when the queue is closed ends at once, in the words by which BullMQ is silent', async () => {
    const pass = fakeTime();
    const { database, setAway } = openDatabase(() => undefined);
    setAway(true);
    const ended = expect(database.runUntilAnswered('select 1')).rejects.toThrow(/^Connection is closed\.$/);
    await pass(5_000);
    database.close();
    await pass(20);
    await ended;
  });
});

test('a session passes on the notifications of its client until it is lost, or given back', async () => {
  const { client, database, printed, released } = openDatabase(() => undefined);
  const [session, other] = [new QueueSession(database), new QueueSession(database)];
  const heard: unknown[] = [];
  for (const name of ['notification', 'error']) session.on(name, (value) => heard.push(value));
  await session.query('LISTEN bullmq_jobs');
  const [message, lost] = [{ channel: 'bullmq_jobs', payload: 'scope' }, new Error('Connection terminated')];
  client.emit('notification', message);
  client.emit('error', lost);
  expect([database.isReady, heard, printed]).toEqual([false, [message, lost], [lost]]);
  await expect(session.query('select 1')).rejects.toThrow('Connection is closed.');
  await other.query('LISTEN bullmq_jobs');
  other.release();
  await expect.poll(() => [client.eventNames(), released]).toEqual([[], [false, true, false, true]]);
});

test('BullMQ gets booleans, integers and JSON as values, and all else as texts', async () => {
  const texts = Object.entries({ 16: 'f', 20: '4', 21: '1', 23: '2', 114: '[3]', 3802: '{}' });
  const query: QueueClient['query'] = async (statement) =>
    Object(texts.map(([oid, text]) => Object(statement).types.getTypeParser(Number(oid))(text)));
  expect(await runQuery({ query }, 'select 1', [])).toEqual([false, '4', 1, 2, [3], {}]);
});
