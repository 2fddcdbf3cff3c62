import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { paste, posthornProcess } from '../cli/posthorn.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { TcpProxy } from '../stores/redis/tcp-proxy.ts';
import { startProgram } from '../support/child-program.ts';
import { readDocument } from '../support/documents.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { Place } from './moving-in.ts';

const fixture = useRedis();

const DAY_MS = 86_400_000;

/** The time from which the minutes of `record` count. */
let recordedAt: number;

/** Records ids as the old program does, each as long ago as its number of minutes. */
async function record(ids: readonly string[]): Promise<void> {
  const redis = await fixture.connect();
  await redis.flushall();
  recordedAt = Date.now();
  const batch = redis.pipeline();
  for (const [minutes, id] of ids.entries()) batch.set(`seen:${id}`, '1', 'PX', DAY_MS - minutes * 60_000);
  await batch.exec();
}

/** Starts the program of the page that lists the ids of a Redis. */
function startList(port: number) {
  const place = new Place(port);
  place.compileList();
  const env = { PATH: process.env.PATH, ...place.env };
  return { place, program: startProgram(join(place.folder, 'list-ids.js'), env, place.folder) };
}

/** The ids of a list, each with its minutes, rounded: recording takes a moment. */
function agesOf(lines: readonly string[]): Map<string, number> {
  const listed = lines.map((line) => line.split('\t')).filter((parts) => parts.length === 2);
  return new Map(
    listed.map(([id = '', at]) => [id, Math.floor((recordedAt + 30_000 - Number(at)) / 60_000)]),
  );
}

const agesIn = (ids: readonly string[]) => new Map(ids.map((id, minutes) => [id, minutes]));
const manyIds = Array.from({ length: 1_400 }, (_, index) => `evt_${index}`);

describe('the list of the ids in Redis', () => {
  test('has each id with its own time, whatever stands in the id', async () => {
    const odd = [`evt "quoted" 'twice'`, ' evt  with spaces ', '"', '*', ''];
    await record([...manyIds, ...odd, 'evt\\back\\n', 'evt\nline']);
    fixture.redis.command('set', 'seen:without_expiry', '1');
    fixture.redis.command('set', 'other:evt', '1', 'ex', '60');
    const { program } = startList(fixture.redis.port);
    expect(await program.exit).toBe(0);
    expect(agesOf(program.lines)).toEqual(agesIn([...manyIds, ...odd, 'evt\\\\back\\\\n', 'evt\\nline']));
    expect(program.lines).toContain('1407 ids; left out, because expired or without an expiry: 1');
    expect(program.lines).toContainEqual(expect.stringMatching(/^the youngest id is \d+ s old$/));
  });

  test('never makes an id older than it is', async () => {
    const startedAt = Date.now();
    await record(['evt_1']);
    const { program } = startList(fixture.redis.port);
    const [, at] = (await program.line(/^evt_1\t/)).split('\t');
    expect(Number(at)).toBeGreaterThanOrEqual(startedAt);
    await program.exit;
  });

  test('fails if its connection is cut, and shifts no time', async () => {
    await record(manyIds);
    const redis = await fixture.connect();
    const batch = redis.pipeline();
    for (let index = 0; index < 30_000; index += 1) batch.set(`seen:rest_${index}`, '1', 'PX', DAY_MS);
    await batch.exec();
    const proxy = await TcpProxy.start(fixture.redis.port);
    const { program } = startList(proxy.port);
    await program.line(/\t/);
    proxy.cutConnections();
    expect(await program.exit).toBe(1);
    const listed = agesOf(program.lines);
    expect(listed.size).toBeGreaterThan(0);
    expect(listed.size).toBeLessThan(manyIds.length + 30_000);
    const expected = agesIn(manyIds);
    for (const [id, minutes] of listed) expect(minutes).toBe(expected.get(id) ?? 0);
  });

  test('fails, and leaves no list to import, if the expiry is longer than that of the page', async () => {
    await record(['evt_1']);
    fixture.redis.command('set', 'seen:evt_2', '1', 'px', String(DAY_MS + 3_600_000));
    const { place, program } = startList(fixture.redis.port);
    expect(await program.exit).toBe(1);
    expect(program.lines.join('\n')).toContain('seen:evt_2 expires in');
    place.compile('store: createRedisStore', 'receiver');
    await expect(place.importByPage()).rejects.toThrow('exit code 2:'); // no file to read
    expect(existsSync(join(place.folder, 'ids.tsv'))).toBe(false);
  });

  test('is empty if there is no id, which an import refuses', async () => {
    await record([]);
    const { place } = startList(fixture.redis.port);
    place.compile('store: createRedisStore', 'receiver');
    await expect(place.importByPage()).rejects.toThrow('exit code 1:');
    const args = ['ids', 'import', 'ids.tsv', '--receiver', './receiver.js'];
    expect(await posthornProcess(args, { cwd: place.folder, env: place.env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the list has no ids'),
    });
  });
});

test('the probe of the page finds an id that was imported, and changes nothing for another one', async () => {
  await record(manyIds);
  const { place, program } = startList(fixture.redis.port);
  await program.exit;
  place.compile('store: createRedisStore', 'receiver', { book: "await redis.set('ran', '1');" });
  await place.importByPage();
  const stored = () => fixture.redis.command('dbsize');
  const before = stored();
  const [, command = ''] = /`(grep [^`]+)`/.exec(readDocument('docs/moving.md').text) ?? [];
  const probe = (id: string) => paste(`cd '${place.folder}'\n${command.replace('evt_1', id)}`, place.env);
  expect(await probe('evt_60')).toBe('0 imported, 0 too young, 1 known before, 0 invalid\n');
  await expect(probe('seen:evt_60')).rejects.toThrow('exit code 1:');
  expect(stored()).toBe(before);
});

test('the blocks of the pages that are named .js are JavaScript', () => {
  const folder = temporaryDirectory();
  const blocks = ['docs/moving.md', 'docs/cli.md'].flatMap((page) => readDocument(page).blocks);
  const named = blocks.filter(({ code }) => /^\/\/ .*\.js\n/.test(code));
  expect(named.length).toBe(5);
  for (const { code } of named) {
    const file = join(folder, 'block.mjs');
    writeFileSync(file, code);
    expect(spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr).toBe('');
  }
});
