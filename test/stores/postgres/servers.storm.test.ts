import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startedBy } from '../../support/started-by.ts';
import { until } from '../../support/until.ts';
import { usePostgres } from './fixture.ts';
import type { PostgresServer } from './servers.ts';

/** The states of all processes that work in the directory of a server, as `ps` has them. */
function statesOf({ directory }: PostgresServer): string[] {
  const pid = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n', 1));
  const pids = [pid, ...startedBy(pid)].join(',');
  return execFileSync('ps', ['-o', 'stat=', '-p', pids], { encoding: 'utf8' }).trim().split('\n');
}

describe('a server of the tests', () => {
  const fixture = usePostgres();

  test.each(['fast', 'immediate', 'kill'] as const)('keeps its data when it is stopped: %s', async (mode) => {
    const { postgres: server } = fixture;
    server.sql('drop table if exists kept; create table kept (value text); insert into kept values (1)');
    const held = await fixture.connect().connect();
    const lost = new Promise((resolve) => held.on('error', resolve));
    await server.stop(mode);
    await lost;
    held.release(true);
    await server.restart();
    expect(server.sql('select value from kept')).toBe('1');
  });

  test('answers nothing while it is frozen', async () => {
    const { postgres } = fixture;
    const pool = fixture.connect();
    await pool.query('select 1');
    postgres.freeze();
    let isThawed = false;
    const answer = pool.query('select 2 as two').then(({ rows }) => [rows, isThawed]);
    await until('its processes stand still', () =>
      statesOf(postgres).every((state) => state.startsWith('T')),
    );
    isThawed = true;
    postgres.thaw();
    expect(await answer).toEqual([[{ two: 2 }], true]);
  });
});
