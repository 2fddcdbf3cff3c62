import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Pool } from 'pg';
import { expect } from 'vitest';
import { programPath } from '../../tools/programs.js';
import { until } from '../support/until.ts';
import { post, type Settings, type Started, start } from './process.ts';
import { readRedis } from './redis-form.ts';
import type { Version } from './version.ts';

/** The scope of everything that is recorded. */
export const SCOPE = 'stored';

/** Longer than a store keeps an id as it is. */
export const LONG_ID = `evt_done_${'long_'.repeat(16)}`;

/** After all retries of the service: a delivery that comes now is the last attempt. */
const LAST_ATTEMPT_AGE_MS = 25 * 60_000;

/** BullMQ keeps milliseconds times 4,096, so that jobs of one millisecond have an order. */
const AN_HOUR_OF_DELAY = 3_600_000 * 4_096;

/** How a handler ends. */
type Plan = 'succeed' | 'fail' | 'refuse' | 'hang' | 'hang after the others';

interface Sent {
  readonly type?: string;
  readonly plan?: Plan;
  readonly isLast?: boolean;
  readonly data?: object;
}

/** The body of an event. Its time does not depend on the order of sending. */
function bodyOf(id: string, { type = 'transfer.updated', plan = 'succeed', isLast = false, data }: Sent) {
  const created_at = new Date(Date.now() - (isLast ? LAST_ATTEMPT_AGE_MS : 0)).toISOString();
  return JSON.stringify({ id, type, created_at, data: { plan, ...data } });
}

async function send({ url }: Started, id: string, sent: Sent, outcome: string): Promise<void> {
  const answer = await post(url, bodyOf(id, sent));
  expect([id, answer.outcome ?? String(answer.status)]).toEqual([id, outcome]);
}

/** Sends an event whose handler never ends; resolves once it has begun. */
async function leaveRunning(receiver: Started, id: string, sent: Sent): Promise<void> {
  // Its process is killed before it answers.
  post(receiver.url, bodyOf(id, { plan: 'hang', ...sent })).catch(() => {});
  await receiver.line(new RegExp(sent.plan === undefined ? ` begun ${id} ` : ` after ${id}$`));
}

async function kill(started: Started): Promise<void> {
  started.kill('SIGKILL');
  await started.exit;
}

/** Events that end in each way that leaves a letter, and one whose letter was removed. */
async function leaveLetters(receiver: Started): Promise<void> {
  await send(receiver, 'evt_refused', { plan: 'refuse' }, 'parked');
  await send(receiver, 'evt_last', { plan: 'fail', isLast: true }, 'parked');
  await send(receiver, 'evt_dropped', { plan: 'refuse' }, 'parked');
  await receiver.line(/ dropped evt_dropped$/);
  expect((await post(receiver.url, 'this is not JSON')).outcome).toBe('parked');
  await leaveRunning(receiver, 'evt_last_running', { isLast: true });
}

/** Events in each state that a store knows. */
async function leaveIds(receiver: Started): Promise<void> {
  await send(receiver, 'evt_done', {}, 'processed');
  await send(receiver, LONG_ID, {}, 'processed');
  await send(receiver, 'evt_failed', { plan: 'fail' }, '500');
  await leaveRunning(receiver, 'evt_running', {});
  await leaveRunning(receiver, 'evt_half_done', { plan: 'hang after the others' });
  for (const id of ['evt_unclaimed', 'evt_unanswered']) await send(receiver, id, {}, '503');
}

/** Kills a receiver while it holds an id to drop its letter. */
async function killInDrop(receiver: Started): Promise<void> {
  receiver.kill('SIGUSR2');
  await receiver.line(/ held evt_refused$/);
  await kill(receiver);
}

/** Jobs in each state of a queue; one of a worker that was killed, and one that a worker could not run. */
async function leaveJobs(
  version: Version,
  redis: Redis,
  receiver: Started,
  settings: Settings,
): Promise<void> {
  const dispute = { type: 'dispute.updated' };
  const scoreIn = (state: string, id: string): Promise<string | null> =>
    redis.zscore(`{posthorn}:${SCOPE}:${state}`, `event-${id}`);
  const queue = async (id: string, plan: Plan, state: string): Promise<void> => {
    await send(receiver, id, { ...dispute, plan }, 'queued');
    await until(`${id} is ${state}`, async () => (await scoreIn(state, id)) !== null);
  };
  const worker = await start(version, { ...settings, role: 'worker', hasLetters: false });
  await queue('evt_job_delayed', 'fail', 'delayed');
  // Otherwise another worker could take it on a busy machine.
  await redis.zincrby(`{posthorn}:${SCOPE}:delayed`, AN_HOUR_OF_DELAY, 'event-evt_job_delayed');
  await queue('evt_job_failed', 'refuse', 'failed');
  await send(receiver, 'evt_job_done', dispute, 'queued');
  await worker.line(/ reported evt_job_done /);
  await send(receiver, 'evt_job_running', { ...dispute, plan: 'hang' }, 'queued');
  await worker.line(/ begun evt_job_running /);
  await kill(worker);
  const stranger = await start(version, { ...settings, role: 'stranger', hasLetters: false });
  await queue('evt_job_missing', 'succeed', 'delayed');
  await kill(stranger);
  await send(receiver, 'evt_job_waiting', dispute, 'queued');
  await send(receiver, 'evt_job_waiting_last', { ...dispute, isLast: true }, 'queued');
}

/** What a version keeps in Redis: ids, letters and, if it has a queue, jobs. */
export async function recordRedis(version: Version, redis: Redis, hasQueue = true): Promise<string> {
  const settings: Settings = {
    store: 'redis',
    scope: SCOPE,
    redisPort: Number(redis.options.port),
    hasQueue,
  };
  const receiver = await start(version, settings);
  if (hasQueue) await leaveJobs(version, redis, receiver, settings);
  await leaveIds(receiver);
  await leaveLetters(receiver);
  await killInDrop(receiver);
  // The stack of a job's error names the folder of the version.
  return `${JSON.stringify(await readRedis(redis), undefined, 2).replaceAll(version.root, '/app')}\n`;
}

/** What a version keeps in the tables that it has made: ids, letters and the records of handlers. */
export async function recordPostgres(version: Version, pool: Pool, url: string): Promise<string> {
  await pool.query(APPLICATION_TABLES);
  const receiver = await start(version, { store: 'postgres', scope: SCOPE, postgresUrl: url });
  await leaveIds(receiver);
  await until('the inbox has the event that is half done', async () => {
    const { rows } = await pool.query("select from posthorn.inbox where event_key = 'evt_half_done'");
    return rows.length === 1;
  });
  const state = { type: 'subscription.updated', data: { id: 'SUB1' } };
  await send(receiver, 'evt_state', state, 'processed');
  receiver.kill('SIGHUP');
  await receiver.line(/ rerun evt_state /);
  await leaveLetters(receiver);
  await killInDrop(receiver);
  const args = ['--column-inserts', '--no-owner', '--no-privileges', '--dbname', url];
  const env = { PATH: process.env.PATH, PGTZ: 'UTC' };
  const sql = execFileSync(programPath('pg_dump'), args, { encoding: 'utf8', env });
  // What later versions of pg_dump add is unknown to earlier servers, or differs each time.
  return sql.replaceAll(/^(\\(un)?restrict .*|SET transaction_timeout = 0;)\n/gm, '');
}

/** The tables of the application that handlers of inboxes write. */
export const APPLICATION_TABLES = `create table ledger (event_id text);
create table states (id text primary key, event_id text, created_at timestamptz)`;

/** What a version keeps of letters in a directory: the text of each file by its name. */
export async function recordFiles(version: Version, directory: string): Promise<Map<string, string>> {
  const receiver = await start(version, { store: 'files', scope: SCOPE, directory });
  await leaveLetters(receiver);
  await kill(receiver);
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

/** Writes files into a folder, which is made if it is missing. */
export function writeFiles(folder: string, files: Iterable<readonly [string, string]>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
}
