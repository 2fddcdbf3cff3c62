import { inspect } from 'node:util';
import type { Store } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { storeConformance } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { packageRoot, startProgram } from '../../support/child-program.ts';
import { ampleTime } from '../../support/limits.ts';
import { stoppedClock } from '../../support/monotonic-clock.ts';
import { readAll } from '../../support/read-all.ts';
import { snippetWith } from '../../support/snippet.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { keyCases } from '../kit/key-cases.ts';
import { describeSummaries } from './conformance.ts';
import { noRetry, useUpstash } from './upstash-fixture.ts';
import { TOKEN } from './upstash-front.ts';

const times = { leaseMs: 120_000, retentionMs: 240_000 };

describe('a client of Upstash', () => {
  const fixture = useUpstash();
  const { connect, mistreat } = fixture;

  describeSummaries(
    'its dead letters',
    async () => ({ client: connect(), close: () => {} }),
    () => fixture.redis.redis,
  );

  describe('as the store', () => {
    const open = () => createRedisStore(connect(), { scope: 'upstash', ...ampleTime });
    for (const { name, run } of storeConformance(open)) test(name, run);
    test.each(keyCases)('$name', ({ check }) => check(open));

    test.each([
      { enableAutoPipelining: false },
      { automaticDeserialization: false },
      { responseEncoding: false as const },
    ])('answers alike with %j', async (options) => {
      const store = createRedisStore(connect(options), { scope: 'options', ...ampleTime });
      const request = { ...times, id: JSON.stringify(options), token: 'a' };
      expect(await store.claim(request)).toMatchObject({ state: 'claimed', attempt: 1 });
      await store.release({ ...request, handled: ['{"a":1}', '💶'] });
      expect(await store.claim({ ...request, token: 'b' })).toMatchObject({
        attempt: 2,
        handled: ['{"a":1}', '💶'],
      });
      await store.complete(request);
      expect(await store.claim({ ...request, token: 'c' })).toEqual({ state: 'completed' });
    });

    test('shares its events with a client of ioredis', async () => {
      const upstash = createRedisStore(connect(), { scope: 'both', ...ampleTime });
      const direct = createRedisStore(await fixture.redis.connect(), { scope: 'both', ...ampleTime });
      const request = { ...times, id: 'evt', token: 'a' };
      expect(await upstash.claim(request)).toMatchObject({ state: 'claimed' });
      expect(await direct.claim({ ...request, token: 'b' })).toMatchObject({ state: 'busy' });
      await direct.complete(request);
      expect(await upstash.claim({ ...request, token: 'b' })).toEqual({ state: 'completed' });
    });

    test('sends a script again that the server has forgotten', async () => {
      for (const options of [{}, { enableAutoPipelining: false }]) {
        const store = createRedisStore(connect(options), { scope: 'flushed', ...ampleTime });
        fixture.redis.redis.command('script', 'flush');
        expect(await store.claim({ ...times, id: JSON.stringify(options), token: 'a' })).toMatchObject({
          state: 'claimed',
        });
      }
    });

    test('one operation that Redis refuses fails no other with it, and the error names no payload', async () => {
      for (const options of [{}, { enableAutoPipelining: false }]) {
        const scope = `refused-${Object.keys(options).length}`;
        const store = createRedisStore(connect(options), { scope, ...ampleTime });
        fixture.redis.redis.command('lpush', `${scope}:list`, 'not ours');
        const results = await Promise.allSettled(
          ['before', 'list', 'after'].map((id) => store.claim({ ...times, id, token: 'secret-token' })),
        );
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect(results[1]).toMatchObject({
          reason: { code: 'store_unavailable', message: expect.stringContaining('WRONGTYPE') },
        });
        expect(inspect(results, { depth: 10 })).not.toContain('secret-token');
      }
    });

    test('an error about the whole database is not asked for again by each operation', async () => {
      const store = createRedisStore(connect({ enableAutoPipelining: false }), {
        scope: 'limited',
        ...ampleTime,
      });
      mistreat('over the limit');
      // Operations that begin too far apart go in requests of their own.
      stoppedClock();
      const before = fixture.front.requests;
      const ids = Array.from({ length: 16 }, (_, index) => `evt-${index}`);
      const results = await Promise.allSettled(ids.map((id) => store.claim({ ...times, id, token: 'a' })));
      expect(results.every(({ status }) => status === 'rejected')).toBe(true);
      expect(fixture.front.requests - before).toBe(1);
    });

    test('an answer that is not JSON, and an address with a password, appear in no error', async () => {
      mistreat('not JSON');
      const garbled = createRedisStore(connect(noRetry), { scope: 'garbled', ...ampleTime });
      const url = fixture.front.url.replace('//', '//user:secret@');
      const withPassword = createRedisStore(connect({ ...noRetry, url }), {
        scope: 'password',
        ...ampleTime,
      });
      const gone = createRedisStore(connect({ ...noRetry, url: 'http://127.0.0.1:9' }), {
        scope: 'gone',
        ...ampleTime,
      });
      const claim = (store: Store) =>
        Promise.resolve(store.claim({ ...times, id: 'evt', token: 'a' })).catch((error) => inspect(error));
      expect(await claim(garbled)).toMatch(/the request to Upstash failed: \w+/);
      expect(await claim(garbled)).not.toContain('secret');
      expect(await claim(withPassword)).toMatch(/the request to Upstash failed: \w+/);
      expect(await claim(withPassword)).not.toContain('secret');
      expect(await claim(gone)).toMatch(/the request to Upstash failed: \w+/);
    });

    test('with the signal of the page a silent database keeps no connections open', async () => {
      const signal = () => AbortSignal.timeout(500);
      const store = createRedisStore(connect({ signal }), { scope: 'signal', commandTimeoutMs: 300 });
      mistreat('silent');
      const claims = Array.from({ length: 20 }, (_, index) =>
        Promise.resolve(store.claim({ ...times, id: `evt-${index}`, token: 'a' })),
      );
      await Promise.allSettled(claims);
      await until('no connection is left', async () => (await fixture.front.connections()) === 0);
    });

    test('a wrong token is a clear failure', async () => {
      const store = createRedisStore(connect({ token: 'wrong' }), { scope: 'wrong', ...ampleTime });
      await expect(store.claim({ ...times, id: 'evt', token: 'a' })).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('WRONGPASS invalid or missing auth token'),
      });
    });

    test('a claim whose answer was lost is held by its token, and released by it', async () => {
      const store = createRedisStore(connect(noRetry), { scope: 'lost', ...ampleTime });
      const request = { ...times, id: 'evt', token: 'a' };
      await store.complete({ ...request, id: 'makes the script known' });
      const heal = mistreat('cut after the command');
      await expect(store.claim(request)).rejects.toMatchObject({ code: 'store_unavailable' });
      heal();
      expect(await store.claim({ ...request, token: 'b' })).toMatchObject({ state: 'busy' });
      expect(await store.claim(request)).toMatchObject({ state: 'claimed', attempt: 1, abandoned: 0 });
      expect(await store.release({ ...request, handled: [] })).toEqual({ state: 'released' });
    });

    test('no answer at all: unavailable in time', async () => {
      const store = createRedisStore(connect(), { scope: 'silent', commandTimeoutMs: 300 });
      mistreat('silent');
      await expect(store.claim({ ...times, id: 'evt', token: 'a' })).rejects.toThrow(/no answer in 300 ms/);
    });
  });

  describe('as the dead letters', () => {
    test('keeps a letter of any text, and an id that looks like JSON', async () => {
      const deadLetters = createRedisDeadLetters(connect(), { scope: 'texts', ...ampleTime });
      const ids = ['{"a":1}', '"quoted"', 'null', 'true', '12', '1e3', '[1]', '=', 'OK'];
      for (const id of ids) {
        await deadLetters.put(createLetter({ id, message: `💶 ${id}`, rawBody: Buffer.from(id) }));
        expect(await deadLetters.get(id)).toMatchObject({ id, message: `💶 ${id}` });
      }
      expect((await readAll(deadLetters.list())).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    });

    test('a letter that cannot be stored appears in no error', async () => {
      for (const options of [{}, { enableAutoPipelining: false }]) {
        const deadLetters = createRedisDeadLetters(connect({ ...noRetry, ...options }), {
          scope: 'shown',
          ...ampleTime,
        });
        mistreat('over the limit');
        const failure = await deadLetters.put(createLetter({ id: 'evt', message: 'secret' })).catch(String);
        const shown = inspect(failure, { depth: 10 });
        expect(shown).toContain('ERR max requests limit exceeded');
        expect(shown).not.toMatch(/secret|rawBody/);
      }
    });
  });

  test('the command of docs/redis.md checks a database', async () => {
    const [, environment = '', program = ''] =
      /^(UPSTASH_\S+ UPSTASH_\S+) node --input-type=module --eval "(.*)"$/ms.exec(
        snippetWith('storeConformance', 'docs/redis.md', 'sh'),
      ) ?? [];
    expect(environment.match(/UPSTASH_[A-Z_]+/g)).toEqual([
      'UPSTASH_REDIS_REST_URL',
      'UPSTASH_REDIS_REST_TOKEN',
    ]);
    const check = startProgram(
      '--input-type=module',
      { PATH: process.env.PATH, UPSTASH_REDIS_REST_URL: fixture.front.url, UPSTASH_REDIS_REST_TOKEN: TOKEN },
      packageRoot,
      // As it stands there, but for a limit that a busy machine reaches.
      ['--eval', program.replaceAll('{ scope }', '{ scope, commandTimeoutMs: 60_000 }')],
    );
    expect(await check.exit, check.lines.join('\n')).toBe(0);
    const names = storeConformance(() => createRedisStore(connect(), { scope: 'unused', ...ampleTime })).map(
      ({ name }) => name,
    );
    expect(check.lines).toEqual([...names, 'letters of 1 MiB'].map((name) => `ok: ${name}`));
  });
});
