import { createRedisDeadLetters } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../stores/redis/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { letter, nothingSkipped } from './letters.ts';
import { jsonLines, paste, posthorn } from './posthorn.ts';

describe('posthorn dead-letters on Redis', () => {
  const fixture = useRedis({ requirepass: 'hidden' });
  const url = (port = fixture.redis.port, password = 'hidden'): string =>
    `redis://:${password}@127.0.0.1:${port}`;

  test('lists, shows and drops the letters of a scope, and ends by itself', async () => {
    const { Redis } = await import('ioredis');
    const redis = fixture.keep(new Redis(url()));
    const deadLetters = createRedisDeadLetters(redis, { scope: 'billing-test' });
    await redis.ping();
    for (let count = 0; count < 20; count += 1) await deadLetters.put(letter(`evt_${count}`));
    await deadLetters.put(letter('evt_running', { runningUntil: Date.now() + 3_600_000 }));

    const place = ['--scope', 'billing-test', '--json'];
    const env = { REDIS_URL: url() };
    const listed = await posthorn(['dead-letters', 'list', ...place], { env });
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const lines = jsonLines(listed);
    expect(lines.slice(0, -2).map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, index) => `evt_${index}`),
    );
    expect(lines.at(-2)).toMatchObject({ kind: 'running', id: 'evt_running' });
    expect(lines.at(-1)).toEqual({ kind: 'summary', letters: 20, ...nothingSkipped, running: 1 });

    const shown = await posthorn(`dead-letters show evt_7 --scope billing-test --redis ${url()}`);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('"data":{"amount":5}}\n') });

    const dropped = await posthorn(['dead-letters', 'drop', '--all', '--yes', ...place], { env });
    expect(jsonLines(dropped).at(-1)).toMatchObject({ dropped: 20, running: 1 });
    expect(await deadLetters.get('evt_7')).toBeUndefined();
    expect(await deadLetters.get('evt_running')).toBeDefined();
    const other = await posthorn(['dead-letters', 'list', '--scope', 'other', '--json'], { env });
    expect(jsonLines(other)).toEqual([{ kind: 'summary', letters: 0, ...nothingSkipped }]);
  });

  test('says that a scope is empty, because its name may be misspelt', async () => {
    const env = { REDIS_URL: url() };
    const list = ['dead-letters', 'list', '--scope', 'biling'];
    const stderr =
      'posthorn: no dead letter in the scope "biling": a misspelt scope or another database looks the same\n';
    expect(await posthorn(list, { env })).toEqual({ code: 0, stdout: '0 parked\n', stderr });
    expect(await posthorn([...list, '--json'], { env })).toMatchObject({ code: 0, stderr });
    const { Redis } = await import('ioredis');
    const redis = fixture.keep(new Redis(url()));
    await createRedisDeadLetters(redis, { scope: 'biling' }).put(letter('evt_1'));
    const filtered = await posthorn([...list, '--type', 'dispute.*'], { env });
    expect(filtered).toEqual({ code: 0, stdout: '0 parked\n', stderr: '' });
    const after = await posthorn([...list, '--after', 'evt_1'], { env });
    expect(after).toEqual({ code: 0, stdout: '0 parked\n', stderr: '' });
  });

  test('the command that goes on reaches the same server, and does not repeat its password', async () => {
    const { Redis } = await import('ioredis');
    const deadLetters = createRedisDeadLetters(fixture.keep(new Redis(url())), { scope: 'next' });
    for (const id of ['evt_1', 'evt_2']) await deadLetters.put(letter(id));
    const list = ['dead-letters', 'list', '--scope', 'next', '--limit', '1', '--redis', url(), '--json'];
    const nextWith = async (env: NodeJS.ProcessEnv): Promise<string> =>
      String(jsonLines(await posthorn(list, { env })).at(-1)?.next);

    const same = await nextWith({ REDIS_URL: url() });
    expect(same).toContain(' --redis "$REDIS_URL"');
    expect(await paste(same, { REDIS_URL: url() })).toContain('"letters":1');

    for (const env of [{}, { REDIS_URL: 'redis://127.0.0.1:1' }]) {
      const next = await nextWith(env);
      expect(next).toContain(" --redis '<the same address>'");
      expect(next).not.toContain('hidden');
      // A shell does not run it by mistake, on another server or at all.
      await expect(paste(next, { ...env })).rejects.toThrow(/exit code 2/);
    }
  });

  test.each(['redis://:hidden/pw@127.0.0.1', 'redis://:hid#den@127.0.0.1'])(
    'an address that is not a URL is exit code 2, and not repeated: %s',
    async (address) => {
      const list = ['dead-letters', 'list', '--scope', 'a'];
      const byVariable = await posthorn(list, { env: { REDIS_URL: address } });
      expect(byVariable).toMatchObject({ code: 2, stdout: '' });
      expect(byVariable.stderr).toMatch(/^posthorn: the address in REDIS_URL is not a URL: .* \/ as %2F/);
      const byOption = await posthorn([...list, '--redis', address]);
      expect(byOption.stderr).toContain('the address in --redis is not a URL');
      expect(byVariable.stderr + byOption.stderr).not.toContain('hid');
    },
  );

  test('a Redis that is not there is exit code 3', async () => {
    const env = { REDIS_URL: url(await freePort()) };
    const ended = await posthorn(['dead-letters', 'list', '--scope', 'billing-test'], { env });
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(/^posthorn: Redis cannot be reached: .*ECONNREFUSED.* \(unreachable\)\n$/);
  });

  test.each([
    { what: 'password', address: () => url(fixture.redis.port, 'another-secret'), reason: 'WRONGPASS' },
    { what: 'missing password', address: () => `redis://127.0.0.1:${fixture.redis.port}`, reason: 'NOAUTH' },
    { what: 'database', address: () => `${url()}/99`, reason: 'ERR DB index is out of range' },
  ])('a wrong $what is not a Redis that is not there', async ({ address, reason }) => {
    const env = { REDIS_URL: address() };
    const ended = await posthorn(['dead-letters', 'list', '--scope', 'billing-test'], { env });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      new RegExp(
        `^posthorn: Redis refuses the connection: ${reason}.*; correct the database, .* \\(failed\\)\n$`,
      ),
    );
    expect(ended.stderr).not.toMatch(/another-secret|hidden/);
  });

  test.each([
    { what: 'no address', env: {}, scope: 'a', message: /REDIS_URL or --redis/ },
    {
      what: 'another address',
      env: { REDIS_URL: 'http://hidden/' },
      scope: 'a',
      message: /REDIS_URL or --redis/,
    },
    {
      what: 'a wrong scope',
      env: { REDIS_URL: 'redis://127.0.0.1:1' },
      scope: 'a b',
      message: /scope of createRedis/,
    },
  ])('$what is exit code 2', async ({ env, scope, message }) => {
    const ended = await posthorn(['dead-letters', 'list', '--scope', scope], { env });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(ended.stderr).not.toContain('hidden');
  });
});
