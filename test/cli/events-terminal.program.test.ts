import { describe, expect, test } from 'vitest';
import { eventOf, moduleOf, writeEvents } from './accepting.ts';
import { onTerminal } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

/** Resolves with the text that a terminal gets, without its colours, after the input. */
async function onTerminalWith(events: readonly object[], args: string, input = '') {
  const { file } = await writeModule(moduleOf());
  const { status, stdout } = onTerminal(
    `events accept ${writeEvents(events)} --receiver ${file} ${args}`,
    input,
    'stty cols 100; NO_COLOR=1 ',
  );
  return { status, text: stdout.replaceAll('\r\n', '\n') };
}

const events = ['evt_1', 'evt_bad', 'evt_3'].map((id) => eventOf(id));

describe('posthorn events accept on a terminal', () => {
  test.each(['\n', 'n\n', '\u0004'])('accepts nothing after %j', async (input) => {
    const { status, text } = await onTerminalWith(events, '', input);
    expect(status).toBe(1);
    expect(text).toContain('3 would run\n');
    expect(text).toContain('Accept 3 events? [y/N] ');
    expect(text).toContain('posthorn: nothing was accepted (failed)');
    expect(text).not.toContain('processed');
  });

  test('accepts after y, with its progress and the time that it took', async () => {
    const { status, text } = await onTerminalWith(events, '', 'y\n');
    expect(status).toBe(1);
    expect(text).toContain('\r\u001b[Kchecked 3 lines');
    expect(text).toContain('\r\u001b[Kaccepted 2 of 3');
    expect(text).toMatch(/2 processed, 1 failed, in \d+\.\d s\n/);
  });

  test('says in the question how many of a portion there are', async () => {
    const { text } = await onTerminalWith(events, '--limit 2', 'n\n');
    expect(text).toContain('Accept 2 of 3 events? [y/N] ');
  });

  test('does not ask with --yes, nor if nothing would run', async () => {
    expect((await onTerminalWith(events, '--yes')).text).not.toContain('[y/N]');
    const { status, text } = await onTerminalWith([eventOf('evt_1', { type: 'dispute.won' })], '');
    expect(status).toBe(0);
    expect(text).toContain('nothing is left to accept\n');
    expect(text).not.toContain('[y/N]');
  });
});
