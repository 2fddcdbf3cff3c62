import { describe, expect, test } from 'vitest';
import { directoryOf, letter } from './letters.ts';
import { onTerminal } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

/** What a terminal of so many columns gets, without its colours. */
function onNarrowTerminal(columns: number, args: string): { status: number | null; text: string } {
  const { status, stdout } = onTerminal(`dead-letters ${args}`, '', `stty cols ${columns}; NO_COLOR=1 `);
  return { status, text: stdout.replaceAll('\r\n', '\n') };
}

const parkedAt = Date.parse('2026-03-31T09:00:30Z');

async function fill(): Promise<string> {
  const message = 'a handler failed: the ledger of the merchant is locked by somebody else';
  return directoryOf([
    letter('evt_1', { parkedAt, message }),
    letter('evt_two', { parkedAt: parkedAt + 60_000, type: 'dispute.lost', message: 'no\nway' }),
  ]);
}

describe('on a terminal', () => {
  test('list is a table of its width, without what could drive it', async () => {
    const { status, text } = onNarrowTerminal(90, `list --dir ${await fill()}`);
    expect(status).toBe(0);
    expect(text.split('\n')).toEqual([
      'PARKED             TYPE                ID       ATTEMPTS  REASON',
      '2026-03-31T09:00Z  transfer.succeeded  evt_1           4  handler_failed: a handler faile…',
      '2026-03-31T09:01Z  dispute.lost        evt_two         4  handler_failed: no\\u{a}way',
      '2 parked',
      '',
    ]);
  });

  test.each([40, 60])('at %i columns each letter has three lines, and no id is cut', async (columns) => {
    const { text } = onNarrowTerminal(columns, `list --dir ${await fill()}`);
    const lines = text.trimEnd().split('\n');
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines).toHaveLength(7);
    expect(lines[0]).toBe('evt_1');
    expect(lines[1]).toMatch(/^ {2}transfer\.succeeded, attempts: 4/);
    expect(lines[2]).toMatch(/^ {2}handler_failed: a handler failed.*…$/);
  });

  test('drop --dry-run counts by type and reason', async () => {
    const { text } = onNarrowTerminal(120, `drop --all --dry-run --dir ${await fill()}`);
    expect(text.split('\n')).toEqual([
      '2 would be dropped',
      'parked from 2026-03-31T09:00:30.000Z to 2026-03-31T09:01:30.000Z',
      '  1 transfer.succeeded handler_failed',
      '  1 dispute.lost handler_failed',
      '',
    ]);
  });

  test('replay shows how far it is, and what failed at the end', async () => {
    const parkedAt = Date.now();
    const { file } = await writeModule(
      `${LETTERS_BESIDE}
      export const receiver = createReceiver({ signingKey: 'k', deadLetters });
      receiver.on('*', ({ id }) => { if (id === 'evt_2') throw new Error('no'); });`,
      ['evt_1', 'evt_2', 'evt_3'].map((id, index) => letter(id, { parkedAt: parkedAt + index })),
    );
    const { status, text } = onNarrowTerminal(100, `replay --all --receiver ${file}`);
    expect(status).toBe(1);
    expect(text).toContain('\r\u001b[Kreplaying 3 of 3, 1 failed so far: evt_');
    const [, summary = ''] = text.split(/\n(?=2 replayed)/);
    expect(summary).toMatch(/^2 replayed, 1 failed, in \d+\.\d s\n {2}1 handler_failed\n {4}evt_2\n$/);
  });

  test('what handlers print, and the note of a signal, do not stick to the progress', async () => {
    const { file } = await writeModule(
      `import { once } from 'node:events';
      ${LETTERS_BESIDE}
      export const receiver = createReceiver({ signingKey: 'k', deadLetters });
      receiver.on('*', async () => {
        console.log('booked');
        process.stderr.write('logged\\n');
      });
      receiver.on('*', async () => {
        const signalled = once(process, 'SIGINT');
        process.kill(process.pid, 'SIGINT');
        await signalled;
      });`,
      [letter('evt_1')],
    );
    const { status, text } = onNarrowTerminal(100, `replay --all --receiver ${file}`);
    expect(status).toBe(130);
    expect(text).toContain('replaying 1 of 1');
    for (const printed of ['booked', 'logged', 'posthorn: SIGINT: the current event']) {
      const line = text.split('\n').find((each) => each.includes(printed));
      expect(line).toMatch(new RegExp(`(^|\\r\\u001b\\[K)${printed}`));
    }
  });
});
