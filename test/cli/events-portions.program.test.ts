import { createSqliteStore } from 'posthorn/sqlite';
import { describe, expect, test } from 'vitest';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { acceptEvents, acceptFile, eventOf, moduleOf, storeIn, writeEvents } from './accepting.ts';
import { letter } from './letters.ts';
import { posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const sqlite = useSqlite();

describe('posthorn events accept in portions', () => {
  test('--limit accepts so many, and the last line is the command that goes on', async () => {
    await sqlite.openMigrated();
    const parts = { store: storeIn(sqlite.path) };
    const file = writeEvents(Array.from({ length: 5 }, (_, index) => eventOf(`evt_${index}`)));
    const args = ['--yes', '--limit', '2', '--concurrency', '8'];
    const first = await acceptFile(file, args, parts);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('\n2 processed, 3 left\n'),
    });
    expect(first.stdout.split('\n').at(-2)).toBe(
      `the rest: posthorn events accept ${file} --receiver ${first.receiver} --concurrency 8 --limit 2 --yes`,
    );
    const second = await acceptFile(file, args, parts);
    expect(second.stdout).toContain('\n2 processed, 2 known, 1 left\n');
    const last = await acceptFile(file, args, parts);
    expect(last.stdout).toMatch(/\n1 processed, 4 known\n$/);
  });

  test('what was parked before is passed over, and is named in the check and at the end', async () => {
    await sqlite.openMigrated();
    const parts = { store: storeIn(sqlite.path), options: 'deadLetters' };
    const file = writeEvents(['evt_bad', 'evt_worse_bad', 'evt_3'].map((id) => eventOf(id)));
    const first = await acceptFile(file, ['--yes', '--limit', '1'], parts);
    expect(first.stdout).toContain('\n0 processed, 1 parked, 2 left\n');
    const again = (...args: string[]) =>
      posthorn(['events', 'accept', file, '--receiver', first.receiver, ...args]);
    const second = await again('--yes', '--limit', '1');
    expect(second.code).toBe(1);
    expect(second.stdout).toMatch(/^2 would run, 1 parked\n/);
    expect(second.stdout).toContain('\n0 processed, 1 parked, 1 parked before, 1 left\n');
    const list = `posthorn dead-letters list --receiver ${first.receiver}`;
    expect(second.stderr).toContain(`parked: they wait for a replay: ${list}\n`);
    const third = await again('--yes', '--limit', '1');
    expect(third.stdout).toContain('\n1 processed, 2 parked before\n');
    const last = await again('--yes');
    expect(last).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^0 would run, 1 known, 2 parked\n/),
    });
    expect(last.stderr).toContain('nothing is left to accept\n');
  });

  test('an event that was parked because the store was away does not end the command', async () => {
    await sqlite.openMigrated();
    const parts = { store: storeIn(sqlite.path), options: 'deadLetters' };
    const file = writeEvents(['evt_1', 'evt_2'].map((id) => eventOf(id)));
    const parked = letter('evt_1', { reason: 'store_unavailable' });
    const { file: receiver } = await writeModule(moduleOf(parts), [parked]);
    const ended = await posthorn(['events', 'accept', file, '--receiver', receiver, '--yes']);
    expect(ended.stdout).toContain('\n1 processed, 1 parked before\n');
    expect(ended.code).toBe(1);
  });

  test('--bail ends after the first event that was not handled', async () => {
    const events = ['evt_1', 'evt_bad', 'evt_3', 'evt_4'].map((id) => eventOf(id));
    const ended = await acceptEvents(events, ['--yes', '--bail']);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('\n1 processed, 1 failed, 2 left\nthe rest: posthorn events accept ');
  });

  test('--concurrency runs so many at once', async () => {
    // Each waits until three have begun, so a smaller number would hang.
    const handlers = `.on('*', () => new Promise((resolve) => {
        const waiting = (globalThis.waiting ??= []);
        waiting.push(resolve);
        console.error(waiting.length);
        if (waiting.length === 3) for (const go of waiting.splice(0)) setImmediate(go);
      }))`;
    const events = Array.from({ length: 21 }, (_, index) => eventOf(`evt_${index}`));
    const { code, stderr } = await acceptEvents(events, ['--yes', '--concurrency', '3'], { handlers });
    expect(code).toBe(0);
    expect(Math.max(...stderr.trimEnd().split('\n').map(Number))).toBe(3);
  });

  test('events of one concurrency key wait for their turn', async () => {
    // The first handler keeps the key until another event was refused for it.
    const handlers = `;
      const refused = new Promise((resolve) => {
        receiver.observe(({ code }) => code === 'key_busy' && resolve());
      });
      receiver.on('*', () => refused, { name: 'book', concurrencyKey: () => 'one' })`;
    const events = Array.from({ length: 6 }, (_, index) => eventOf(`evt_${index}`));
    const ended = await acceptEvents(events, ['--yes', '--concurrency', '6'], {
      handlers,
      options: 'deadLetters, deadlineMs: 800,',
    });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n6 processed\n$/) });
  });

  test('lines that are added after the check are left to another command', async () => {
    // The stream has not come to the end of the file when the first handler runs.
    const note = 'x'.repeat(500_000);
    const file = writeEvents(['evt_1', 'evt_2'].map((id) => eventOf(id, { note })));
    const handlers = `.on('*', async () => {
        const { appendFileSync } = await import('node:fs');
        appendFileSync(${JSON.stringify(file)}, '${JSON.stringify(eventOf('evt_3'))}\\n');
      })`;
    const ended = await acceptFile(file, ['--yes'], { handlers });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n2 processed\n$/) });
  });

  test.each([
    ['--concurrency', '65', 'It must be a whole number from 1 to 64.'],
    ['--concurrency', '0', 'It must be a whole number from 1 to 64.'],
    ['--limit', '0', 'It must be a whole number from 1 on.'],
  ])('refuses %s %s', async (option, value, message) => {
    expect(await acceptEvents([eventOf('evt_1')], [option, value])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });
});

describe('a store that is away', () => {
  test('ends the check with code 3', async () => {
    const store = "{ ...createMemoryStore(), peek: () => { throw new Error('away'); } }";
    expect(await acceptEvents([eventOf('evt_1')], ['--yes'], { store })).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('(store_unavailable)'),
    });
  });

  test('ends the command after the events under way, and says what is left', async () => {
    const store = `(() => {
      const memory = createMemoryStore();
      const claim = (request) => {
        if (request.id === 'evt_3') throw new Error('away');
        return memory.claim(request);
      };
      return { ...memory, claim };
    })()`;
    const events = Array.from({ length: 50 }, (_, index) => eventOf(`evt_${index}`));
    const ended = await acceptEvents(events, ['--yes'], { store });
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('(store_unavailable)') });
    expect(ended.stdout).toContain('\n3 processed, 47 left\nthe rest: posthorn events accept ');
    expect(ended.stdout.match(/^failed /gm)).toHaveLength(1);
  });

  test('a receiver that is closed meanwhile ends the command too', async () => {
    const handlers = ".on('*', () => void receiver.close())";
    const ended = await acceptEvents([eventOf('evt_1'), eventOf('evt_2'), eventOf('evt_3')], ['--yes'], {
      handlers,
    });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('(closing)') });
    expect(ended.stdout).toContain('\n1 processed, 2 left\n');
  });
});

test('an event that another process goes on handling is left to it, and the exit code says so', async () => {
  const store = createSqliteStore(await sqlite.openMigrated(), { scope: 'accepting' });
  await store.claim({ id: 'evt_1', token: 'run', leaseMs: 3_600_000, retentionMs: 3_600_000 });
  const parts = { store: storeIn(sqlite.path), options: 'leaseMs: 100,' };
  const ended = await acceptEvents([eventOf('evt_1'), eventOf('evt_2')], ['--yes'], parts);
  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain(
    '\nbusy transfer.succeeded evt_1 event_running: another process is still handling',
  );
  expect(ended.stdout).toMatch(/\n1 processed, 1 running elsewhere\n$/);
});
