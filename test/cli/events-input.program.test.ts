import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { acceptEvents, acceptFile, eventOf, moduleOf, writeEvents } from './accepting.ts';
import { refusal } from './ended.ts';
import { posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const DRY = ['--dry-run'];

describe('posthorn events accept refuses', () => {
  test.each([
    ['stdin', () => '-', 2, 'the file is read twice, first to check it, so it cannot be stdin'],
    ['a missing file', () => join('missing', 'events.jsonl'), 2, 'does not exist'],
    ['a directory', () => temporaryDirectory(), 2, 'is a directory: name the file'],
    ['what can be read only once', () => '/dev/null', 2, 'is not a regular file, and is read twice'],
    ['an empty file', () => writeEvents([]), 1, 'has no events'],
    ['a file of empty lines', () => writeEvents(['', '  ', '\t']), 1, 'has no events'],
    [
      'a JSON array',
      () => writeEvents([[eventOf('evt_1')]]),
      2,
      "is a JSON array: write one event on each line, as `jq -c '.[]'` does",
    ],
    [
      'a JSON array on several lines',
      () => writeEvents([JSON.stringify([eventOf('evt_1')], undefined, 2)]),
      2,
      "as `jq -c '.[]'` does",
    ],
    [
      'JSON on several lines',
      () => writeEvents([JSON.stringify(eventOf('evt_1'), undefined, 2)]),
      2,
      'as `jq -c .` does',
    ],
    [
      'a file without JSON',
      () => writeEvents(['id,type', 'evt_1,transfer.succeeded']),
      2,
      'is an event as JSON; line 1: it is not JSON',
    ],
    [
      'JSON that is not objects',
      () => writeEvents(['"evt_1"', '5']),
      2,
      'line 1: it must be a JSON object, and is string',
    ],
  ])('%s', async (_, fileOf, code, message) => {
    expect(await acceptFile(fileOf(), DRY)).toMatchObject(refusal(code, expect.stringContaining(message)));
  });

  test.each([
    ['without handlers', moduleOf({ handlers: '' }), [], 'the receiver has no handlers'],
    [
      'of an earlier version',
      'export const receiver = { replay() {}, drop() {}, close() {} };',
      [],
      'the module must import this version',
    ],
    [
      'with a store in memory',
      moduleOf({ store: 'createMemoryStore()' }),
      [],
      'keeps its ids in the memory of its process',
    ],
    ['without accounts, for --account', moduleOf(), ['--account', 'acct_1'], 'leave out --account'],
  ])('a receiver %s', async (_, code, args, message) => {
    const { file } = await writeModule(code);
    const events = writeEvents([eventOf('evt_1')]);
    expect(await posthorn(['events', 'accept', events, '--receiver', file, ...DRY, ...args])).toEqual(
      refusal(2, expect.stringContaining(message)),
    );
  });

  test('a store in memory, unless --allow-forgotten says to run each event', async () => {
    const parts = { store: 'createMemoryStore()' };
    const ended = await acceptEvents([eventOf('evt_1')], ['--yes', '--allow-forgotten'], parts);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n1 processed\n$/) });
  });

  test('to accept without a terminal and --yes, before it reads anything', async () => {
    expect(await acceptEvents([eventOf('evt_1')], [])).toMatchObject(
      refusal(
        2,
        expect.stringContaining('without a terminal to ask on, accept needs --yes; --dry-run counts'),
      ),
    );
  });

  test('a command without --receiver', async () => {
    expect(await posthorn(['events', 'accept', writeEvents([eventOf('evt_1')])])).toEqual(
      refusal(2, expect.stringContaining("required option '--receiver <module>' not specified")),
    );
  });
});

describe('a line', () => {
  const wrapper = (members: object): object => ({ event: eventOf('evt_1'), ...members });
  test.each([
    [
      'that is longer than the limit',
      `{"id":"${'x'.repeat(10_000_000)}"}`,
      /it is longer than 6356992 bytes: no event within maxBodyBytes \(1048576\) is/,
    ],
    ['with an event over maxBodyBytes', eventOf('evt_1', { more: 'x'.repeat(1_048_576) }), /maxBodyBytes/],
    ['that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /it is not UTF-8/],
    ['that is a list', [eventOf('evt_1')], /it must be a JSON object, and is Array/],
    ['that is not an event', { id: 'evt_1' }, /the body is not an event/],
    [
      'of the future',
      eventOf('evt_1', { created_at: '2999-01-01T00:00:00Z' }),
      /ahead of this machine's clock/,
    ],
    [
      'with a created_at of another form',
      eventOf('evt_1', { created_at: '26.11.2026 10:00' }),
      /created_at: must be a time in ISO 8601, as 2026-03-31T09:05:00Z/,
    ],
    [
      'with a time without zone',
      wrapper({ createdAtMs: '2026-11-26T09:00:00' }),
      /createdAtMs must be a number of milliseconds since the epoch, and is "2026-11-26T09:00:00"/,
    ],
    ['with a time that is too large', wrapper({ createdAtMs: 1e300 }), /createdAtMs must be a number/],
    ['with an event that is a number', { event: 5 }, /event must be an object or a text, and is number/],
    [
      'with headers that are a text',
      wrapper({ headers: 'x: secret' }),
      /headers must be an object by name, and is string/,
    ],
    [
      'with an account that is a number',
      wrapper({ account: 5 }),
      /account must be a text of 1 to 256 characters, and is 5/,
    ],
    [
      'with an account, for a receiver without accounts',
      wrapper({ account: 'acct_1' }),
      /the receiver does not have the option account/,
    ],
    ['with a text that is not an event', { event: 'x' }, /not JSON/],
  ])('%s is named by its number', async (_, line, message) => {
    const { code, stdout } = await acceptEvents([eventOf('evt_0'), line, eventOf('evt_2')], DRY);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^2 would run, 1 unreadable\n/);
    const [, problem] = /\n {2}line 2: (.*)\n$/.exec(stdout) ?? [];
    expect(problem).toMatch(message);
  });

  test('may end as on Windows, stand after a byte order mark or an empty line, or lack its end', async () => {
    const [first, second, last] = ['evt_1', 'evt_2', 'evt_3'].map((id) => JSON.stringify(eventOf(id)));
    const file = writeEvents([`\uFEFF${first}\r`, '\r', '', `${second}\r`, last ?? '']);
    expect(await acceptFile(file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^3 would run\n[\s\S]*\n3 processed\n$/),
      stderr: '',
    });
  });

  test('may have a created_at without a zone, which is UTC', async () => {
    const ageMs = 86_400_000;
    const lines = [ageMs - 3_600_000, ageMs + 3_600_000].map((ms, index) =>
      eventOf(`evt_${index}`, { created_at: new Date(Date.now() - ms).toISOString().slice(0, 16) }),
    );
    const { file } = await writeModule(moduleOf());
    const args = ['events', 'accept', writeEvents(lines), '--receiver', file, ...DRY];
    const ended = await posthorn(args, { env: { TZ: 'America/New_York' } });
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringMatching(/^1 would run, 1 too old\n/) });
  });

  test('that was unreadable makes the command fail, though the others are accepted', async () => {
    const ended = await acceptEvents(['junk', eventOf('evt_1')]);
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringMatching(/\n1 processed, 1 unreadable\n$/) });
  });
});
