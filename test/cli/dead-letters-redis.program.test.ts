import { createRedisDeadLetters } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../stores/redis/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { letter } from './letters.ts';
import { jsonLines, posthorn } from './posthorn.ts';

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
    expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, index) => `evt_${index}`),
    );
    expect(lines.at(-1)).toEqual({ kind: 'summary', letters: 20, running: 1, left: 0 });

    const shown = await posthorn([
      'dead-letters',
      'show',
      'evt_7',
      '--scope',
      'billing-test',
      '--redis',
      url(),
    ]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('"data":{"amount":5}}\n') });

    const dropped = await posthorn(['dead-letters', 'drop', '--all', '--yes', ...place], { env });
    expect(jsonLines(dropped).at(-1)).toMatchObject({ dropped: 20, running: 1 });
    expect(await deadLetters.get('evt_7')).toBeUndefined();
    expect(await deadLetters.get('evt_running')).toBeDefined();
    const other = await posthorn(['dead-letters', 'list', '--scope', 'other', '--json'], { env });
    expect(jsonLines(other)).toEqual([{ kind: 'summary', letters: 0, running: 0, left: 0 }]);
  });

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
