import { describe, expect, test } from 'vitest';
import { usePostgres } from './fixture.ts';

describe('a server of the tests', () => {
  const fixture = usePostgres();

  test.each(['fast', 'immediate', 'kill'] as const)('keeps its data when it is stopped: %s', async (mode) => {
    const server = await fixture.servers.single();
    server.sql('create table kept (value text); insert into kept values (1)');
    const held = await fixture.connect({ port: server.port }).connect();
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
    let answered = false;
    const answer = pool.query('select 2 as two').then(({ rows }) => {
      answered = true;
      return rows;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(answered).toBe(false);
    postgres.thaw();
    expect(await answer).toEqual([{ two: 2 }]);
  });
});
