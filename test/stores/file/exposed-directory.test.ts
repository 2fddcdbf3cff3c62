import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { createReceiver, type Report } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { KEY } from '../../support/served.ts';
import { silenced } from '../../support/silenced.ts';
import { skipIf, skipWithoutModes } from '../../support/skip-if.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The warnings of two deliveries, and what the default log has printed of them. */
async function warningsIn(directory: string) {
  const error = silenced('error');
  const receiver = createReceiver({ signingKey: KEY, deadLetters: createFileDeadLetters(directory) });
  const reports: Report[] = [];
  receiver.on('*', () => {}).observe((report) => reports.push(report), { keepDefaultLog: true });
  for (let sent = 0; sent < 2; sent += 1) {
    const { status } = await receiver.receive(deliveryOf(createEvent('transfer.succeeded')));
    expect(status).toBe(200);
  }
  const printed = error.mock.calls.flat();
  return { first: reports[0]?.warnings, second: reports[1]?.warnings, printed };
}

describe('a directory of letters', () => {
  beforeEach(skipWithoutModes);

  test.each([
    ['0777', 'every user, its group'],
    ['1777', 'every user, its group'],
    ['0702', 'every user'],
    ['2770', 'its group'],
  ])('with the mode %s is taken, and told of once, by its name', async (mode, writers) => {
    const directory = temporaryDirectory();
    await chmod(directory, Number.parseInt(mode, 8));
    const { first, second, printed } = await warningsIn(directory);
    const text = `dead_letters_exposed: the dead letters in ${directory} can be forged: ${writers} may write to it`;
    expect(first).toEqual([expect.stringContaining(text)]);
    expect(second).toEqual([]);
    expect(printed).toEqual([expect.stringContaining(text)]);
  });

  test.each(['0700', '0755', '0750', '0711'])('with the mode %s is nothing to tell of', async (mode) => {
    const directory = temporaryDirectory();
    await chmod(directory, Number.parseInt(mode, 8));
    expect(await warningsIn(directory)).toEqual({ first: [], second: [], printed: [] });
  });

  test('that is made anew is nothing to tell of, whatever the umask', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const directory = join(temporaryDirectory(), 'made', 'anew');
    expect(await warningsIn(directory)).toMatchObject({ first: [] });
  });

  test('that belongs to another user is told of', async (context) => {
    skipIf(context, process.getuid?.() !== 0, 'only root may give a directory away');
    const directory = temporaryDirectory();
    await chown(directory, 12_345, 0);
    const { first } = await warningsIn(directory);
    expect(first).toEqual([
      expect.stringMatching(/^dead_letters_exposed: .*: its owner \(12345\) may write/),
    ]);
  });
});
