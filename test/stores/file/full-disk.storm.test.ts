import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, onTestFinished, test } from 'vitest';
import { expectNothingToBeParked, openLastChance } from '../../receiver/dead-letters/last-chance.ts';
import { accepted } from '../../support/open-endpoint.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { createLetter } from '../kit/conformance.ts';

describe('a full disk', () => {
  /** Mounts a disk of 64 KiB; undefined where the system forbids it. */
  async function mountSmallDisk(): Promise<string | undefined> {
    const directory = temporaryDirectory();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory], { stdio: 'ignore' });
    } catch {
      return undefined;
    }
    onTestFinished(() => void execFileSync('umount', [directory]));
    return directory;
  }

  function fill(path: string): void {
    for (;;) {
      try {
        appendFileSync(path, Buffer.alloc(1_024));
      } catch {
        return;
      }
    }
  }

  test('under file dead letters: nothing is parked until there is room', async ({ skip }) => {
    const directory = await mountSmallDisk();
    // The refusal itself, ENOSPC, is tested in outage.test.ts on every system.
    if (directory === undefined) return skip('a tmpfs can be mounted by root only');
    const deadLetters = createFileDeadLetters(directory);
    const old = createLetter();
    await deadLetters.put(old);
    const filler = join(directory, 'filler');
    fill(filler);

    const lastChance = openLastChance(deadLetters, 8_000);
    await expectNothingToBeParked(lastChance);
    await expect(deadLetters.put({ ...old, rawBody: Buffer.alloc(50_000) })).rejects.toMatchObject({
      code: 'dead_letters_unavailable',
    });
    expect(await deadLetters.get(old.id)).toMatchObject({ message: old.message });
    expect(readdirSync(directory)).toHaveLength(2);

    rmSync(filler);
    const { send, eventThat } = lastChance;
    const event = eventThat('FAILED');
    expect(await send(event)).toEqual(accepted('parked', event.id));
  });
});
