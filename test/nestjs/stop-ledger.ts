import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import type { DatabaseFixture } from '../stores/postgres/fixture.ts';
import { startProgram } from '../support/child-program.ts';
import { until } from '../support/until.ts';
import { key } from './application.ts';

/**
 * Starts what programs/ledger.ts is compiled to, and sends it SIGTERM while its repository waits for
 * PostgreSQL: the delivery succeeds, and only then does the pool close.
 */
export async function expectBookedBeforeEnd(
  program: string,
  folder: string,
  { connect, sql, url }: DatabaseFixture,
  server: 'Express' | 'Fastify',
): Promise<void> {
  await sql('create table if not exists ledger (event_id text)');
  const environment = { PATH: process.env.PATH, POSTGRES_URL: url(), KEY: key, SERVER: server };
  const { exit, kill, line, lines } = startProgram(program, environment, folder);
  onTestFinished(async () => {
    kill('SIGKILL');
    await exit;
  });
  const [, address] = (await line(/^listening /)).split(' ');
  const client = await connect().connect();
  onTestFinished(() => client.release());
  await client.query('begin');
  await client.query('lock table ledger in exclusive mode');
  const event = createEvent('transfer.succeeded');
  const answer = deliver(`${address}/webhooks`, event, { key });
  await line(/^begun /);
  kill('SIGTERM');
  await until('the receiver refuses deliveries', async () => {
    const other = await deliver(`${address}/webhooks`, createEvent('dispute.created'), { key });
    return other.status === 503;
  });
  await client.query('commit');
  const { status } = await answer;
  expect([status, await sql(`select count(*) from ledger where event_id = '${event.id}'`)]).toEqual([
    200,
    '1',
  ]);
  // NestJS sends itself the signal again, once its hooks have run.
  expect(await exit).toBeNull();
  const notes = lines.filter((each) => !each.startsWith('posthorn: '));
  expect(notes.slice(1)).toEqual([
    `begun ${event.id}`,
    `booked ${event.id}`,
    'the pool closes',
    'the pool has closed',
  ]);
}
