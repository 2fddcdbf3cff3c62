import { describe, expect, test } from 'vitest';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { printed } from './ended.ts';
import { BOOKING, handledEvents, openRerun, PRINTING_REPORTS } from './rerunning.ts';

const sqlite = useSqlite();
const three = handledEvents(['evt_1', 'evt_2', 'evt_3']);

describe('posthorn events rerun, while an event is running elsewhere', () => {
  /** Another process goes on handling the event. Each look at it takes 200 ms by the clock of the command. */
  const store = `(() => {
      const own = createSqliteStore(database, { scope: 'rerunning' });
      const now = performance.now.bind(performance);
      let passedMs = 0;
      performance.now = () => now() + passedMs;
      const peek = (request) => {
        if (request.id !== 'evt_2') return own.peek(request);
        passedMs += 200;
        return { state: 'running' };
      };
      return { ...own, peek };
    })()`;

  test('leaves it alone after its lease, and the exit code says so', async () => {
    const handlers = BOOKING + PRINTING_REPORTS;
    const { rerun } = await openRerun(sqlite, three, { store, handlers, options: 'leaseMs: 1_000,' });
    const ended = await rerun('--all', '--yes', '--concurrency', '3');
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/^2 would run, 1 running elsewhere\n/);
    expect(ended.stdout).toContain('\nbusy transfer.succeeded evt_2 event_running: ');
    expect(ended.stdout).toMatch(/\n2 processed, 1 running elsewhere\nthe rest: .*\n$/);
    // Each attempt would be a report to the observers.
    const reports = ended.stderr.match(/^busy evt_2$/gm) ?? [];
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.length).toBeLessThanOrEqual(3);
  });

  test('counts it in a dry run, which is not a failure', async () => {
    const { rerun } = await openRerun(sqlite, three, { store });
    expect(await rerun('--all', '--dry-run')).toEqual(printed('2 would run, 1 running elsewhere\n'));
  });
});

describe('posthorn events rerun, if it cannot go on', () => {
  test('a store that may have lost what was run ends the command, and it says so', async () => {
    // The store comes back in the end, because the command waits for its last completions.
    const store = `(() => {
      const own = createSqliteStore(database, { scope: 'rerunning' });
      const fail = () => { throw new Error('away'); };
      let complete = fail;
      const claim = (request) => {
        if (!request.id.endsWith('evt_2')) return own.claim(request);
        complete = own.complete;
        return fail();
      };
      return { ...own, claim, complete: (request) => complete(request), commandTimeoutMs: 50 };
    })()`;
    const { rerun } = await openRerun(sqlite, three, { store });
    const ended = await rerun('--all', '--yes');
    expect(ended).toMatchObject({ code: 3, stdout: expect.stringContaining('\n1 processed, 2 left\n') });
    expect(ended.stderr).toContain(
      'the store may not have recorded that 1 of these were run: the same command',
    );
  });

  test('a store that is away ends the command with code 3, and the rest is left', async () => {
    const store = `(() => {
      const own = createSqliteStore(database, { scope: 'rerunning' });
      const claim = async (request) => {
        if (request.id.includes('rerun:') && request.id.includes('evt_3')) throw new Error('away');
        return own.claim(request);
      };
      return { ...own, claim };
    })()`;
    const { rerun } = await openRerun(sqlite, handledEvents(['evt_1', 'evt_2', 'evt_3', 'evt_4']), { store });
    const ended = await rerun('--all', '--yes');
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('(store_unavailable)') });
    expect(ended.stdout).toContain('\n2 processed, 2 left\nthe rest: posthorn events rerun ');
  });

  test('a receiver that is closed meanwhile ends the command', async () => {
    const { rerun } = await openRerun(sqlite, three, {
      handlers: ".on('*', () => void receiver.close(), { name: 'book' })",
    });
    const ended = await rerun('--all', '--yes');
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('(closing)') });
    expect(ended.stdout).toContain('\n1 processed, 2 left\n');
  });

  test('a journal that goes away meanwhile ends the command', async () => {
    const journal = `(() => {
      const own = createSqliteJournal(database, { scope: 'rerunning' });
      let lists = 0;
      const list = async function* (selection) {
        lists += 1;
        for await (const entry of own.list(selection)) {
          if (lists > 1 && entry.id === 'evt_3')
            throw Object.assign(new Error('the journal is away'), { code: 'journal_unavailable' });
          yield entry;
        }
      };
      return { ...own, list };
    })()`;
    const { rerun } = await openRerun(sqlite, three, { journal });
    const ended = await rerun('--all', '--yes');
    expect(ended.stderr).toContain('the journal is away');
    expect(ended.stdout).toContain('\n2 processed, 1 left\n');
  });
});
