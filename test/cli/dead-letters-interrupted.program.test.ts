import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { inOrder } from './letters.ts';
import { posthorn, startPosthornProcess } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

/** Its handler writes each id to a file, and waits at `evt_2` until there is a file `go`. */
const RECEIVER = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { createReceiver } from 'posthorn';
  import { createFileDeadLetters } from 'posthorn/file';
  const at = (name) => new URL(name, import.meta.url).pathname;
  export const receiver = createReceiver({ signingKey: 'k', deadLetters: createFileDeadLetters(at('letters')) });
  receiver.on('*', async ({ id }) => {
    appendFileSync(at('begun'), id + '\\n');
    while (id === 'evt_2' && !existsSync(at('go'))) await setTimeout(10);
    if (id === 'evt_bad') throw new Error('no');
  });`;

async function fill(ids: readonly string[]) {
  const { file, deadLetters } = await writeModule(RECEIVER, inOrder(ids));
  const folder = join(file, '..');
  const begun = (): string[] =>
    existsSync(join(folder, 'begun')) ? readFileSync(join(folder, 'begun'), 'utf8').trim().split('\n') : [];
  return {
    file,
    begun,
    isRunning: () => until('the handler of evt_2 runs', () => begun().includes('evt_2')),
    go: () => writeFileSync(join(folder, 'go'), ''),
    left: async () => {
      const found: string[] = [];
      for await (const { id } of deadLetters.list()) found.push(id);
      return found;
    },
    /** Makes a letter as old as it is when handlers that were killed would have been aborted. */
    passMaxRunMs: async (id: string) => {
      const found = await deadLetters.get(id);
      expect(found?.runningUntil).toBeGreaterThan(Date.now());
      if (found !== undefined) await deadLetters.put({ ...found, runningUntil: Date.now() - 1 });
    },
  };
}

const ids = ['evt_bad', 'evt_2', 'evt_3', 'evt_4'];
const replayAll = (file: string): string[] => ['dead-letters', 'replay', '--all', '--receiver', file];

describe('a replay that is interrupted', () => {
  test.each([
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 143 },
    { signal: 'SIGHUP', code: 129 },
  ] as const)('by $signal finishes the current event, and says how to go on', async ({ signal, code }) => {
    const { file, isRunning, go, left } = await fill(ids);
    const command = startPosthornProcess(replayAll(file));
    await isRunning();
    command.kill(signal);
    await command.line(new RegExp(`^posthorn: ${signal}: the current event is finished first\\.`));
    go();
    expect(await command.exit).toBe(code);
    expect(command.lines.slice(-2)).toEqual([
      '1 replayed, 1 failed, 2 left',
      `the rest: posthorn dead-letters replay --all --after evt_bad --receiver ${file}`,
    ]);
    expect(await left()).toEqual(['evt_bad', 'evt_3', 'evt_4']);
  });

  test('of ids goes on with those that are left, and says so in JSON', async () => {
    const { file, isRunning, go } = await fill(ids);
    const command = startPosthornProcess(`dead-letters replay evt_2 evt_4 evt_3 --receiver ${file} --json`);
    await isRunning();
    command.kill('SIGINT');
    await command.line(/^posthorn: SIGINT/);
    go();
    expect(await command.exit).toBe(130);
    expect(JSON.parse(command.lines.at(-1) ?? '')).toMatchObject({
      kind: 'summary',
      replayed: 1,
      left: 2,
      next: `posthorn dead-letters replay evt_4 evt_3 --receiver ${file} --json`,
    });
  });

  test('of ids, one of which is missing, keeps the exit code of the signal', async () => {
    const { file, isRunning, go } = await fill(ids);
    const command = startPosthornProcess(`dead-letters replay evt_2 evt_none evt_3 --receiver ${file}`);
    await isRunning();
    command.kill('SIGINT');
    await command.line(/^posthorn: SIGINT/);
    go();
    await command.line(/^posthorn: ids without a dead letter: "evt_none" \(failed\)$/);
    expect(await command.exit).toBe(130);
  });

  test('by a second signal ends at once, and keeps the dead letter of the current event', async () => {
    const { file, isRunning, left } = await fill(ids);
    const command = startPosthornProcess(replayAll(file));
    await isRunning();
    command.kill('SIGINT');
    await command.line(/^posthorn: SIGINT/);
    command.kill('SIGINT');
    await command.line(/^posthorn: evt_2 was not finished: it counts as running for maxRunMs/);
    expect(await command.exit).toBe(130);
    expect(await left()).toEqual(ids);
  });

  test('by SIGKILL loses nothing: the rest is replayed, and only the current event runs again', async () => {
    const { file, begun, isRunning, go, left, passMaxRunMs } = await fill(['evt_1', ...ids.slice(1)]);
    const command = startPosthornProcess(replayAll(file));
    await isRunning();
    command.kill('SIGKILL');
    expect(await command.exit).toBe(null);
    expect(await left()).toEqual(['evt_2', 'evt_3', 'evt_4']);
    go();
    // Another process might have the current event, so it is left alone until its handlers have ended.
    const rest = await posthorn(replayAll(file));
    expect(rest).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n2 replayed, 1 still running\n {2}evt_2 may be running until \S+Z\n$/),
    });
    await passMaxRunMs('evt_2');
    const last = await posthorn(replayAll(file));
    expect(last).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n1 replayed\n$/) });
    expect(begun()).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_2']);
    expect(await left()).toEqual([]);
  });

  test('by letters that are away says what it has done, and how to go on', async () => {
    const code = RECEIVER.replace(
      "createFileDeadLetters(at('letters'))",
      `(() => {
        const letters = createFileDeadLetters(at('letters'));
        const get = async (id) => {
          if (id === 'evt_3') throw new Error('the disk is away');
          return letters.get(id);
        };
        return { put: letters.put, remove: letters.remove, list: letters.list, get };
      })()`,
    );
    const { file } = await writeModule(code, inOrder(['evt_1', 'evt_3', 'evt_4']));
    const ended = await posthorn(replayAll(file));
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('the disk is away') });
    expect(ended.stdout).toMatch(/\n1 replayed, 2 left\nthe rest: posthorn dead-letters replay --all /);
  });
});
