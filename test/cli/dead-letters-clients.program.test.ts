import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedisDeadLetters } from 'posthorn/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, ready } from '../stores/redis/clients.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { type RedisServer, Servers } from '../stores/redis/servers.ts';
import { freePort } from '../support/free-port.ts';
import { selfSigned } from '../support/self-signed.ts';
import { type ClientProject, createProject, ioredis6, nodeRedis5, nodeRedis6 } from './client-project.ts';
import { letter } from './letters.ts';
import { jsonLines, posthorn, posthornProcess } from './posthorn.ts';

const SCOPE = 'billing-test';

describe.each([nodeRedis6, nodeRedis5])('dead-letters where only $client is installed', (installed) => {
  const fixture = useRedis({ requirepass: 'hidden' });
  let copied: ClientProject;
  beforeAll(() => {
    copied = createProject(installed);
  });
  afterAll(() => copied.remove());

  const address = (rest = '', port = fixture.redis.port): string =>
    `redis://:hidden@127.0.0.1:${port}${rest}`;
  const run = (args: readonly string[], url: string) =>
    posthorn(['dead-letters', ...args, '--scope', SCOPE], {
      program: copied.program,
      env: { REDIS_URL: url },
      cwd: copied.project,
    });
  const put = async (ids: readonly string[], db = 0) => {
    const options = { port: fixture.redis.port, password: 'hidden', db };
    const redis = fixture.keep(await ready(createClient(6, options)));
    const deadLetters = createRedisDeadLetters(redis, { scope: SCOPE });
    for (const id of ids) await deadLetters.put(letter(id));
    return deadLetters;
  };

  test('the other package is not found', () => {
    const [other] = ['ioredis', 'redis'].filter((each) => each !== installed.name);
    expect(existsSync(join(copied.project, 'node_modules', String(other)))).toBe(false);
  });

  test('lists, shows and drops the letters of the database in the address', async () => {
    const deadLetters = await put(['evt_1', 'evt_2', 'evt_3'], 5);
    const listed = await run(['list', '--json'], address('/5'));
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(listed).map(({ id }) => id)).toEqual(['evt_1', 'evt_2', 'evt_3', undefined]);
    expect(jsonLines(await run(['list', '--json'], address()))).toMatchObject([{ letters: 0 }]);
    const shown = await run(['show', 'evt_2'], address('/5'));
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('"data":{"amount":5}}\n') });
    const dropped = await run(['drop', 'evt_2', '--json'], address('/5'));
    expect(jsonLines(dropped)).toMatchObject([{ kind: 'drop', id: 'evt_2' }, { dropped: 1 }]);
    expect(await deadLetters.get('evt_2')).toBeUndefined();
  });

  test('takes a user of the address, who may only what the letters need', async () => {
    await put(['evt_1'], 6);
    const rights = '~* +eval +evalsha +time +zscore +zrangebyscore +hget +get +select';
    const rules = ['on', '>other', ...rights.split(' ')];
    fixture.redis.command('-a', 'hidden', '--no-auth-warning', 'acl', 'setuser', 'reader', ...rules);
    const listed = await run(['list', '--json'], `redis://reader:other@127.0.0.1:${fixture.redis.port}/6`);
    expect(jsonLines(listed)).toMatchObject([{ id: 'evt_1' }, { letters: 1 }]);
    expect(listed.code).toBe(0);
  });

  test('does not print an address with a password', async () => {
    await put(['evt_1', 'evt_2'], 7);
    const place = ['--redis', address('/7'), '--limit', '1'];
    const { stdout } = await run(['list', ...place], '');
    expect(stdout).toMatch(/ list .* --scope billing-test --redis '<the same address>'\n$/);
    expect(stdout).not.toContain('hidden');
  });

  test.each([
    { what: 'password', url: () => address().replace('hidden', 'another-secret'), reason: 'WRONGPASS' },
    { what: 'missing password', url: () => address().replace(':hidden@', ''), reason: 'NOAUTH' },
    { what: 'database', url: () => address('/99'), reason: 'ERR DB index is out of range' },
  ])('a wrong $what is not a Redis that is not there', async ({ url, reason }) => {
    const ended = await run(['list'], url());
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      new RegExp(
        `^posthorn: Redis refuses the connection: ${reason}.*; correct the database, .* \\(failed\\)\n$`,
      ),
    );
    expect(ended.stderr).not.toMatch(/another-secret|hidden/);
  });

  test('a Redis that is not there is exit code 3', async () => {
    const ended = await run(['list'], address('', await freePort()));
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(/^posthorn: Redis cannot be reached: .*ECONNREFUSED.* \(unreachable\)\n$/);
  });

  test('a replay takes the letters of the address', async () => {
    const deadLetters = await put(['evt_1', 'evt_2'], 8);
    const file = join(copied.project, 'receiver.js');
    writeFileSync(join(copied.project, 'package.json'), '{"private":true,"type":"module"}');
    writeFileSync(
      file,
      `import { createReceiver } from 'posthorn';
      export const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});`,
    );
    const replayed = await run(['replay', '--all', '--receiver', './receiver.js'], address('/8'));
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n2 replayed\n$/) });
    expect(await deadLetters.get('evt_2')).toBeUndefined();
  });
});

describe('dead-letters in a Redis with TLS', () => {
  const servers = new Servers();
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-tls-'));
  let redis: RedisServer;
  let port: number;
  beforeAll(async () => {
    const { key, cert } = selfSigned();
    writeFileSync(join(folder, 'key.pem'), key);
    writeFileSync(join(folder, 'cert.pem'), cert);
    port = await freePort();
    redis = await servers.single({
      'tls-port': String(port),
      'tls-cert-file': join(folder, 'cert.pem'),
      'tls-key-file': join(folder, 'key.pem'),
      'tls-auth-clients': 'no',
    });
  });
  afterAll(async () => {
    await servers.stop();
    rmSync(folder, { recursive: true });
  });

  test.each([nodeRedis6, nodeRedis5, ioredis6])(
    'are reached by rediss:// with $client',
    async (installed) => {
      const copied = createProject(installed);
      try {
        redis.command('flushall');
        const writer = await ready(createClient(6, { port: redis.port }));
        await createRedisDeadLetters(writer, { scope: SCOPE }).put(letter('evt_1'));
        writer.disconnect();
        const list = ['dead-letters', 'list', '--scope', SCOPE, '--redis', `rediss://localhost:${port}`];
        const { program } = copied;
        // The subject of the certificate is not localhost, and nothing here is about names.
        const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
        const [stranger, listed] = await Promise.all([
          posthornProcess(list, { program }),
          posthornProcess([...list, '--json'], { program, env }),
        ]);
        expect(stranger).toMatchObject({ code: 3, stderr: expect.stringMatching(/self-signed certificate/) });
        expect(jsonLines(listed)).toMatchObject([{ id: 'evt_1' }, { letters: 1 }]);
      } finally {
        copied.remove();
      }
    },
  );
});
