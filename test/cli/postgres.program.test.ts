import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPostgresDeadLetters, migratePostgres } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { packageRoot } from '../support/child-program.ts';
import { freePort } from '../support/free-port.ts';
import { refusal } from './ended.ts';
import { letter } from './letters.ts';
import { posthorn } from './posthorn.ts';

describe('posthorn on PostgreSQL', () => {
  const fixture = usePostgres();

  test('a PostgreSQL that is not there is exit code 3, told without its password', async () => {
    const url = `postgres://someone:hidden@127.0.0.1:${await freePort()}/billing`;
    for (const args of [
      ['postgres', 'migrate', '--url', url],
      ['dead-letters', 'list', '--scope', 'a', '--postgres', url],
    ]) {
      const ended = await posthorn(args);
      expect(ended).toMatchObject({ code: 3, stdout: '' });
      expect(ended.stderr).toMatch(
        /^posthorn: PostgreSQL cannot be reached: .*ECONNREFUSED.* \(unreachable\)\n$/,
      );
      expect(ended.stderr).not.toContain('hidden');
    }
  });

  test('postgres migrate says from which version it has brought the tables up to date', async () => {
    const server = await fixture.servers.single();
    server.sql(readFileSync(join(packageRoot, 'test', 'stores', 'postgres', 'version-1.sql'), 'utf8'));
    const url = fixture.url({ port: server.port });
    expect(await posthorn(['postgres', 'migrate', '--url', url])).toMatchObject({
      code: 0,
      stdout: 'brought the tables in the schema posthorn from version 1 to version 5\n',
    });
  });

  test('a wrong database, user or password is not a PostgreSQL that is not there', async () => {
    const server = await fixture.servers.single();
    server.sql("create role clerk login password 'right'");
    const access = 'host all clerk 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n';
    writeFileSync(join(server.directory, 'pg_hba.conf'), access);
    server.sql('select pg_reload_conf()');
    const at = `127.0.0.1:${server.port}`;
    for (const [address, reason] of [
      [`postgres@${at}/nowhere`, 'database "nowhere" does not exist'],
      [`nobody@${at}/postgres`, 'role "nobody" does not exist'],
      [`clerk:hidden@${at}/postgres`, 'password authentication failed for user "clerk"'],
      [`clerk@${at}/postgres`, 'the address has no password, and the server asks for one'],
    ]) {
      const url = `postgres://${address}`;
      const migrated = await posthorn(['postgres', 'migrate', '--url', url]);
      expect(migrated).toEqual(
        refusal(
          1,
          `posthorn: PostgreSQL refuses the connection: ${reason}; correct the database, the user or the ` +
            'password in the address (failed)\n',
        ),
      );
      expect(await posthorn(['dead-letters', 'list', '--scope', 'a', '--postgres', url])).toEqual(migrated);
    }
  });

  test('a migration that PostgreSQL refuses is exit code 1', async () => {
    fixture.postgres.sql('create role reader login');
    const args = ['postgres', 'migrate', '--schema', 'refused', '--url', fixture.url({ user: 'reader' })];
    expect(await posthorn(args)).toEqual(
      refusal(
        1,
        expect.stringMatching(/could not be migrated: permission denied for database postgres \(failed\)\n$/),
      ),
    );
  });

  test('tables that are missing are told', async () => {
    const args = ['dead-letters', 'list', '--scope', 'a', '--schema', 'nowhere', '--postgres', fixture.url()];
    const ended = await posthorn(args);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('if this is the right database, run migratePostgres');
    const [advice = ''] =
      /(?<="npx )posthorn postgres migrate --schema nowhere(?=")/.exec(ended.stderr) ?? [];
    const [, ...advised] = advice.split(' ');
    expect(await posthorn(advised, { env: { POSTGRES_URL: fixture.url() } })).toMatchObject({ code: 0 });
    expect(await posthorn(args)).toMatchObject({ code: 0, stdout: '0 parked\n' });
  });

  test('the command that goes on has an address without a password, and no other', async () => {
    const pool = fixture.connect();
    await migratePostgres(pool);
    const deadLetters = createPostgresDeadLetters(pool, { scope: 'next' });
    for (const id of ['evt_1', 'evt_2']) await deadLetters.put(letter(id));
    const nextOf = async (url: string): Promise<string> => {
      const args = ['dead-letters', 'list', '--scope', 'next', '--limit', '1', '--postgres', url];
      return (await posthorn(args)).stdout;
    };
    const url = new URL(fixture.url());
    expect([url.username, url.password]).toEqual([expect.stringMatching(/./), '']);
    expect(await nextOf(url.href)).toContain(` --postgres ${url.href}\n`);
    url.searchParams.set('password', 'hidden');
    expect(await nextOf(url.href)).toContain(" --postgres '<the same address>'\n");
  });
});

describe('posthorn on PostgreSQL, used wrongly', () => {
  test.each([
    {
      args: ['postgres', 'migrate'],
      message: /--url, POSTGRES_URL or DATABASE_URL must begin with postgres:\/\//,
    },
    { args: ['postgres', 'migrate', '--url', 'http://hidden/'], message: /must begin with postgres:\/\// },
    { args: ['postgres', 'migrate', '--schema', 'a b'], message: /schema of posthorn postgres migrate must/ },
    { args: ['postgres', 'sql', '--schema', 'pg_a'], message: /schema of posthorn postgres sql must/ },
    {
      args: ['dead-letters', 'list', '--scope', 'a', '--postgres', 'http://hidden/'],
      message: /POSTGRES_URL or --postgres must begin with postgres:\/\//,
    },
    {
      args: ['dead-letters', 'list', '--scope', 'a', '--postgres', 'postgres://a:hidden/pw@127.0.0.1/b'],
      message: /the address in POSTGRES_URL or --postgres is not a URL: .* \/ as %2F/,
    },
    {
      args: ['postgres', 'migrate', '--url', 'postgres://a:hidden/pw@127.0.0.1/b'],
      message: /the address in --url, POSTGRES_URL or DATABASE_URL is not a URL/,
    },
    {
      args: ['dead-letters', 'list', '--scope', 'a'],
      env: { REDIS_URL: 'redis://hidden/', POSTGRES_URL: 'postgres://hidden/' },
      message: /give --redis or --postgres/,
    },
  ])('$args is exit code 2', async ({ args, env = {}, message }) => {
    const ended = await posthorn(args, { env });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(ended.stderr).not.toContain('hidden');
  });
});
