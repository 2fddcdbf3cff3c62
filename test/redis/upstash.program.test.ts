import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { type RedisConfigNodejs, Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import type { Store } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { storeConformance } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLetter, deadLettersConformance } from '../dead-letters/conformance.ts';
import { serverDeadLettersConformance } from '../dead-letters/server-conformance.ts';
import { expectLikeMemoryStore } from '../dedupe/like-memory-store.ts';
import { weatherStorm } from '../dedupe/storm.ts';
import { packageRoot, startProgram } from '../support/child-program.ts';
import { readAll } from '../support/read-all.ts';
import { snippetWith } from '../support/snippet.ts';
import { until } from '../support/until.ts';
import { useRedis } from './fixture.ts';
import { type Mistreatment, TOKEN, UpstashFront } from './upstash-front.ts';

const times = { leaseMs: 20_000, retentionMs: 60_000 };
/** So that a fault is seen at once, or tried again at once. */
const noRetry = { retry: false as const };
const FAULT_SHARE = 0.25;
const kinds: readonly Mistreatment[] = [
  'cut before the command',
  'cut after the command',
  'silent',
  'over the limit',
];
const quickRetries = { retry: { retries: 5, backoff: () => 20 } };

describe('a client of Upstash', () => {
  const fixture = useRedis();
  let front: UpstashFront;

  beforeAll(async () => {
    const redis = new Redis({ host: '127.0.0.1', port: fixture.redis.port });
    fixture.keep(redis);
    front = await UpstashFront.start(redis);
  });
  afterAll(() => front.stop());

  const connect = (options: Partial<RedisConfigNodejs> = {}) =>
    new Upstash({ url: front.url, token: TOKEN, ...options });

  /** Mistreats every request, until the function that it returns is called. */
  const mistreat = (mistreatment: Mistreatment): (() => void) => {
    front.nextMistreatment = () => mistreatment;
    const heal = (): void => {
      front.nextMistreatment = () => 'none';
    };
    onTestFinished(heal);
    return heal;
  };

  describe('as the store', () => {
    for (const { name, run } of storeConformance(() => createRedisStore(connect(), { scope: 'upstash' })))
      test(name, run);

    test('behaves as the reference model under any interleaving of its operations', async () => {
      await expectLikeMemoryStore(createRedisStore(connect(), { scope: 'upstash-model' }));
    });

    test.each([
      { enableAutoPipelining: false },
      { automaticDeserialization: false },
      { responseEncoding: false as const },
    ])('answers alike with %j', async (options) => {
      const store = createRedisStore(connect(options), { scope: 'options' });
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
      const upstash = createRedisStore(connect(), { scope: 'both' });
      const direct = createRedisStore(await fixture.connect(), { scope: 'both' });
      const request = { ...times, id: 'evt', token: 'a' };
      expect(await upstash.claim(request)).toMatchObject({ state: 'claimed' });
      expect(await direct.claim({ ...request, token: 'b' })).toMatchObject({ state: 'busy' });
      await direct.complete(request);
      expect(await upstash.claim({ ...request, token: 'b' })).toEqual({ state: 'completed' });
    });

    test('sends a script again that the server has forgotten', async () => {
      for (const options of [{}, { enableAutoPipelining: false }]) {
        const store = createRedisStore(connect(options), { scope: 'flushed' });
        fixture.redis.command('script', 'flush');
        expect(await store.claim({ ...times, id: JSON.stringify(options), token: 'a' })).toMatchObject({
          state: 'claimed',
        });
      }
    });

    test('one operation that Redis refuses fails no other with it, and the error names no payload', async () => {
      for (const options of [{}, { enableAutoPipelining: false }]) {
        const scope = `refused-${Object.keys(options).length}`;
        const store = createRedisStore(connect(options), { scope });
        fixture.redis.command('lpush', `${scope}:list`, 'not ours');
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
      const store = createRedisStore(connect({ enableAutoPipelining: false }), { scope: 'limited' });
      mistreat('over the limit');
      const before = front.requests;
      const ids = Array.from({ length: 16 }, (_, index) => `evt-${index}`);
      const results = await Promise.allSettled(ids.map((id) => store.claim({ ...times, id, token: 'a' })));
      expect(results.every(({ status }) => status === 'rejected')).toBe(true);
      expect(front.requests - before).toBe(1);
    });

    test('an answer that is not JSON, and an address with a password, appear in no error', async () => {
      mistreat('not JSON');
      const garbled = createRedisStore(connect(noRetry), { scope: 'garbled' });
      const url = front.url.replace('//', '//user:secret@');
      const withPassword = createRedisStore(connect({ ...noRetry, url }), { scope: 'password' });
      const gone = createRedisStore(connect({ ...noRetry, url: 'http://127.0.0.1:9' }), { scope: 'gone' });
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
      await until('no connection is left', async () => (await front.connections()) === 0);
    });

    test('a wrong token is a clear failure', async () => {
      const store = createRedisStore(connect({ token: 'wrong' }), { scope: 'wrong' });
      await expect(store.claim({ ...times, id: 'evt', token: 'a' })).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('WRONGPASS invalid or missing auth token'),
      });
    });

    test('a claim whose answer was lost is held by its token, and released by it', async () => {
      const store = createRedisStore(connect(noRetry), { scope: 'lost' });
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
    for (const { name, check } of deadLettersConformance)
      test(name, () => check(createRedisDeadLetters(connect(), { scope: randomUUID() })));
    for (const { name, check } of serverDeadLettersConformance)
      test(name, () =>
        check((scope) => ({
          deadLetters: createRedisDeadLetters(connect(), { scope }),
          store: createRedisStore(connect(), { scope }),
        })),
      );

    test('keeps a letter of any text, and an id that looks like JSON', async () => {
      const deadLetters = createRedisDeadLetters(connect(), { scope: 'texts' });
      const ids = ['{"a":1}', '"quoted"', 'null', 'true', '12', '1e3', '[1]', '=', 'OK'];
      for (const id of ids) {
        await deadLetters.put(createLetter({ id, message: `💶 ${id}`, rawBody: Buffer.from(id) }));
        expect(await deadLetters.get(id)).toMatchObject({ id, message: `💶 ${id}` });
      }
      expect((await readAll(deadLetters.list())).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    });

    test('a letter that cannot be stored appears in no error', async () => {
      for (const options of [{}, { enableAutoPipelining: false }]) {
        const deadLetters = createRedisDeadLetters(connect({ ...noRetry, ...options }), { scope: 'shown' });
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
      { PATH: process.env.PATH, UPSTASH_REDIS_REST_URL: front.url, UPSTASH_REDIS_REST_TOKEN: TOKEN },
      packageRoot,
      ['--eval', program],
    );
    expect(await check.exit, check.lines.join('\n')).toBe(0);
    const names = storeConformance(() => createRedisStore(connect(), { scope: 'unused' })).map(
      ({ name }) => name,
    );
    expect(check.lines).toEqual([...names, 'letters of 1 MiB'].map((name) => `ok: ${name}`));
  });

  test('storm: two receivers, with lost answers, cut requests and refusals: nothing is lost, and nothing completed is claimed again', {
    timeout: 180_000,
  }, async () => {
    let faults = 0;
    front.nextMistreatment = () => {
      if (Math.random() > FAULT_SHARE) return 'none';
      faults += 1;
      const kind = kinds[Math.floor(Math.random() * kinds.length)] ?? 'none';
      // An answer that never comes takes two seconds.
      return kind === 'silent' && Math.random() > 0.1 ? 'cut after the command' : kind;
    };
    const openStore = (retry: object) => ({
      store: createRedisStore(connect(retry), { scope: 'storm' }),
      deadLetters: createRedisDeadLetters(connect(retry), { scope: 'storm' }),
    });
    const counts = await weatherStorm({
      receivers: [noRetry, quickRetries].map(openStore),
      calm: () => {
        front.nextMistreatment = () => 'none';
      },
    });
    process.stdout.write(`storm on Upstash: ${JSON.stringify({ ...counts, faults })}\n`);
    expect(faults).toBeGreaterThan(100);
  });
});
