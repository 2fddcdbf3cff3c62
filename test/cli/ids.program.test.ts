import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRedisStore } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../stores/redis/fixture.ts';
import { until } from '../support/until.ts';
import { refusal } from './ended.ts';
import { jsonLines, posthorn, startPosthornProcess } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const fixture = useRedis();

const MINUTE_MS = 60_000;
const terms = { leaseMs: 60_000, retentionMs: 3_600_000 };

const redisModule = (scope: string, rest = '') => `
  import { Redis } from 'ioredis';
  import { createReceiver } from 'posthorn';
  import { createRedisStore } from 'posthorn/redis';
  const redis = new Redis({ port: ${fixture.redis.port}, retryStrategy: () => 100 }).on('error', () => {});
  const store = createRedisStore(redis, { scope: '${scope}' });
  export const receiver = createReceiver({ signingKey: 'k', store${rest} }).on('*', () => {});`;

/** Its store completes nothing until there is a file `go`. */
const heldModule = `
  import { existsSync, writeFileSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { createMemoryStore, createReceiver } from 'posthorn';
  const at = (name) => new URL(name, import.meta.url).pathname;
  const memory = createMemoryStore();
  const store = {
    ...memory,
    commandTimeoutMs: 60_000,
    complete: async (request) => {
      writeFileSync(at('held'), '');
      while (!existsSync(at('go'))) await setTimeout(10);
      return memory.complete(request);
    },
  };
  export const receiver = createReceiver({ signingKey: 'k', store }).on('*', () => {});`;

const lineOf = (id: string, ageMs: number) => `${id}\t${Date.now() - ageMs}\n`;

async function importLines(module: string, lines: string, args: readonly string[] = []) {
  const { file } = await writeModule(module);
  return posthorn(['ids', 'import', '-', '--receiver', file, ...args], { input: lines });
}

describe('posthorn ids import', () => {
  test('completes old ids in Redis, leaves young and known ones out, and can be repeated', async () => {
    const scope = 'import';
    const store = createRedisStore(await fixture.connect(), { scope });
    await store.claim({ id: 'evt_running', token: 'run', ...terms });
    // As an import leaves an id that was killed before it could complete it.
    await store.claim({ id: 'evt_interrupted', token: 'hold:imported', ...terms });
    const many = Array.from({ length: 500 }, (_, index) => lineOf(`evt_${index}`, 40 * MINUTE_MS));
    const list = [...many, ...['evt_running', 'evt_interrupted'].map((id) => lineOf(id, 40 * MINUTE_MS))];
    const lines = `${list.join('')}${lineOf('evt_young', 30 * MINUTE_MS)}`;
    expect(await importLines(redisModule(scope), lines)).toEqual({
      code: 0,
      stdout: '501 imported, 1 too young, 1 known before, 0 invalid\n',
      stderr: 'an id is too young until it is 31 min old: repeat the command then, with the same file\n',
    });
    const claim = (id: string) => store.claim({ id, token: 'delivery', ...terms });
    for (const id of ['evt_0', 'evt_499', 'evt_interrupted'])
      expect(await claim(id)).toEqual({ state: 'completed' });
    expect(await claim('evt_running')).toMatchObject({ state: 'busy' });
    expect(await claim('evt_young')).toMatchObject({ state: 'claimed', attempt: 1 });
    const again = await importLines(redisModule(scope), list.join(''), ['--json']);
    expect(jsonLines(again)).toEqual([
      { kind: 'summary', imported: 0, young: 0, known: 502, invalid: 0, left: 0 },
    ]);
  });

  test('goes by the schedule of the receiver', async () => {
    const module = redisModule('schedule', ', retryScheduleMs: [3_600_000]');
    const lines = lineOf('evt_1', 69 * MINUTE_MS) + lineOf('evt_2', 71 * MINUTE_MS);
    expect(await importLines(module, lines)).toMatchObject({
      stdout: '1 imported, 1 too young, 0 known before, 0 invalid\n',
      stderr: expect.stringContaining('until it is 1 h 10 min old'),
    });
  });

  test('names the lines that it cannot read, and imports the others', async () => {
    const lines = `id\ttime\n${lineOf('evt_1', 40 * MINUTE_MS)}evt_2\t2026-03-31T09:30:00\n`;
    expect(await importLines(redisModule('invalid'), lines)).toMatchObject({
      code: 1,
      stdout: '1 imported, 0 too young, 0 known before, 2 invalid\n',
      stderr: expect.stringContaining('line 1, 3'),
    });
  });

  test('ends with code 3 if the store does not answer, and says how much is left', async () => {
    const module = redisModule('away').replace(/port: \d+/, 'port: 1');
    const lines = Array.from({ length: 20 }, (_, index) => lineOf(`evt_${index}`, 40 * MINUTE_MS)).join('');
    expect(await importLines(module, lines)).toMatchObject({
      code: 3,
      stdout: '0 imported, 0 too young, 0 known before, 0 invalid, 20 left\n',
      stderr: expect.stringContaining('(store_unavailable)'),
    });
  });

  test.each(['', '\n\n', '\uFEFF'])('refuses a list without ids: %j', async (lines) => {
    expect(await importLines(redisModule('empty'), lines)).toEqual(
      refusal(1, expect.stringContaining('the list has no ids')),
    );
  });

  test.each([
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 143 },
  ] as const)('at $signal finishes the current ids, and says how many are left', async ({ signal, code }) => {
    const { file } = await writeModule(heldModule);
    const folder = join(file, '..');
    const list = Array.from({ length: 40 }, (_, index) => lineOf(`evt_${index}`, 40 * MINUTE_MS));
    writeFileSync(join(folder, 'ids.tsv'), `${list.join('')}no time\n`);
    const command = startPosthornProcess(['ids', 'import', join(folder, 'ids.tsv'), '--receiver', file]);
    await until('the store holds the first ids', () => existsSync(join(folder, 'held')));
    command.kill(signal);
    await command.line(new RegExp(`^posthorn: ${signal}: the current ids are finished first\\.`));
    writeFileSync(join(folder, 'go'), '');
    expect(await command.exit).toBe(code);
    expect(command.lines).toContain('16 imported, 0 too young, 0 known before, 1 invalid, 24 left');
  });

  test.each([
    ['the memory store', "createReceiver({ signingKey: 'k' })", 'keeps its ids in the memory of its process'],
    ['an earlier version', '{ replay() {}, drop() {}, close() {} }', 'posthorn 0.2 or earlier'],
  ])('refuses a receiver of %s', async (_, receiver, message) => {
    const module = `import { createReceiver } from 'posthorn'; export const receiver = ${receiver};`;
    const ended = await importLines(module, lineOf('evt_1', 40 * MINUTE_MS));
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  });
});
