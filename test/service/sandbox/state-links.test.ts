import { lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from 'posthorn';
import { createSandbox } from 'posthorn/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { Seen } from '../../support/seen.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { openSandbox } from './opened-sandbox.ts';

/** A directory that others may write to, and a file of theirs in it. */
function directory(): { readonly folder: string; readonly path: string; readonly victim: string } {
  const folder = temporaryDirectory();
  return { folder, path: join(folder, 'state.json'), victim: join(folder, 'victim.json') };
}

test('a link planted beside the state file is not written through', async () => {
  const { path, victim } = directory();
  writeFileSync(victim, 'untouched');
  // The name that the temporary file had before it was made unpredictable.
  symlinkSync(victim, `${path}.${process.pid}.tmp`);
  const { sandbox } = await openSandbox({ clock: 'manual', state: path });
  await sandbox.clock.advance(1);
  expect(readFileSync(victim, 'utf8')).toBe('untouched');
  expect(lstatSync(path).isFile()).toBe(true);
});

test('the temporary file beside the state file has another name each time', async () => {
  const { folder, path } = directory();
  const { sandbox } = await openSandbox({ clock: 'manual', state: path });
  const names = new Seen<string>();
  const watcher = watch(folder, (_, name) => {
    if (name !== null && name !== 'state.json') names.add(name);
  });
  onTestFinished(() => watcher.close());
  await sandbox.clock.advance(1);
  await sandbox.clock.advance(1);
  // Or more: macOS tells of what was written just before as well.
  await until('two names', () => new Set(names.all).size >= 2);
  for (const name of names.all) expect(name).toMatch(/^state\.json\.[\da-f-]{36}\.tmp$/);
});

test.each(['a state', 'no file'])('a link to %s in place of the state file is refused', async (target) => {
  const { folder, path, victim } = directory();
  if (target === 'a state') await (await openSandbox({ clock: 'manual', state: victim })).sandbox.close();
  symlinkSync(victim, path);
  const before = readdirSync(folder);
  const opening = () => createSandbox({ state: path });
  expect(opening).toThrow(ConfigurationError);
  expect(opening).toThrow(`${path} cannot be read`);
  expect(opening).toThrow('it is a symbolic link, which is not followed');
  expect(readdirSync(folder)).toEqual(before);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
});

test('a link that takes the place of the state file later is replaced, not written through', async () => {
  const { path, victim } = directory();
  writeFileSync(victim, 'untouched');
  const { sandbox } = await openSandbox({ clock: 'manual', state: path });
  rmSync(path);
  symlinkSync(victim, path);
  await sandbox.clock.advance(1);
  expect(readFileSync(victim, 'utf8')).toBe('untouched');
  expect(lstatSync(path).isFile()).toBe(true);
});
