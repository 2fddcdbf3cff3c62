import { expect, test } from 'vitest';
import { acceptEvents, eventOf } from './accepting.ts';
import { jsonLines } from './posthorn.ts';

/** Prints what each handler gets. */
const PRINTING =
  ".on('*', (event, { event: identity, headers }) => console.error(JSON.stringify({ event, identity, headers })))";

const ACCOUNTS = 'account: () => undefined,';

test('a line may hold the headers of an event that is named in them, and its time', async () => {
  const createdAtMs = Date.now() - 60_000;
  const headers = { 'x-github-delivery': 'guid-1', 'X-GitHub-Event': 'push' };
  const lines = [
    { event: { ref: 'main' }, headers, createdAtMs },
    {
      event: '{"ref":"next"}',
      headers: { ...headers, 'x-github-delivery': 'guid-2' },
      createdAtMs,
      account: null,
    },
    { event: { ref: 'undated' }, headers: { ...headers, 'x-github-delivery': 'guid-3' } },
  ];
  const options = 'provider: providers.github(),';
  const ended = await acceptEvents(lines, ['--yes'], { options, handlers: PRINTING });
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(
    /^2 would run, 1 too old\n[\s\S]*\nprocessed push guid-1\nprocessed push guid-2\n/,
  );
  expect(ended.stderr).toContain('nothing says when the event was created: give createdAtMs');
  expect(ended.stderr).toContain('"ref":"main"');
  expect(ended.stderr).toContain('"ref":"next"');
});

test('an object that has other members beside event is the event itself', async () => {
  const options = "provider: providers.slack(), signingKey: 'k',";
  const event = { type: 'message', text: 'hello' };
  const event_time = Math.floor(Date.now() / 1_000);
  const line = { type: 'event_callback', team_id: 'T1', event_id: 'Ev1', event_time, event };
  const ended = await acceptEvents([line], ['--yes'], { options, handlers: ".on('*', () => {})" });
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nprocessed \S+ Ev1\n1 processed\n$/),
  });
});

test('--account is that of all lines, and the member account that of one', async () => {
  const parts = { options: ACCOUNTS, handlers: ".on('*', () => {})" };
  const event = eventOf('evt_1');
  const own = await acceptEvents(
    [{ event, account: 'acct_1' }, { event, account: 'acct_2' }, event],
    ['--yes', '--json'],
    parts,
  );
  expect(own.code).toBe(1);
  const lines = jsonLines(own);
  expect(lines.filter(({ kind }) => kind === 'accept')).toMatchObject([
    { id: 'evt_1', account: 'acct_1', outcome: 'processed' },
    { id: 'evt_1', account: 'acct_2', outcome: 'processed' },
  ]);
  expect(lines[0]).toMatchObject({
    line: 3,
    message: expect.stringContaining('give --account, or the member account'),
  });

  const all = await acceptEvents(
    [event, { event, account: 'acct_2' }],
    ['--yes', '--account', 'acct_1'],
    parts,
  );
  expect(all.stdout).toContain('  line 2: its account is "acct_2", and that of --account is "acct_1"\n');
  expect(all.stdout).toMatch(/\n1 processed, 1 unreadable\n$/);
});
