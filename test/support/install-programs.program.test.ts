import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBrowser, findProgram } from '../../tools/programs.js';
import { packageRoot, startCommand } from './child-program.ts';
import { missingDisk } from './free-disk.ts';
import { installPrograms, type Machine } from './install-programs.ts';
import type { NeededProgram } from './needed-programs.ts';
import { replacePath, writeScript } from './replaced-path.ts';

const INSTALL = 'env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends';

const needs = (name: string, apt: string): NeededProgram => ({
  name,
  isInstalled: () => findProgram(name) !== undefined,
  apt,
  brew: `brewed-${apt}`,
});
const needed: readonly NeededProgram[] = [
  needs('ledger-server', 'ledger'),
  needs('ledger-client', 'ledger'),
  { ...needs('some-browser', 'browser'), isStubOnUbuntu: true },
];

/** Looks for these programs with an `apt-get` and a `sudo` that write down how they were called. */
function look(machine: Machine, apt: 'installs' | 'fails' = 'installs') {
  const folder = replacePath(['sh', 'env', 'cp', 'true']);
  const calls = join(folder, 'calls');
  writeFileSync(calls, '');
  writeScript(join(folder, 'sudo'), '#!/bin/sh', `echo "sudo $1" >> ${calls}; shift; exec "$@"`);
  writeScript(
    join(folder, 'apt-get'),
    '#!/bin/sh',
    `echo "$RUNLEVEL $DEBIAN_FRONTEND apt-get $*" >> ${calls}`,
    ...(apt === 'fails' ? ['echo "no route to the mirror" >&2; exit 100'] : []),
    'echo "Reading package lists..."',
    // Each package has the programs whose names begin with its name.
    `case "$*" in *ledger*) for name in server client; do cp ${folder}/true ${folder}/ledger-$name; done; esac`,
    `case "$*" in *browser*) cp ${folder}/true ${folder}/some-browser; esac`,
  );
  const printed: string[] = [];
  const message = installPrograms(needed, machine, (text) => printed.push(text));
  return { message, printed: printed.join('\n'), calls: readFileSync(calls, 'utf8').trim().split('\n') };
}

const debian = { system: 'debian', isRoot: false, isCi: false } as const;

describe('programs that are missing', () => {
  test.each([
    { name: 'as root', machine: { ...debian, isRoot: true }, sudo: [] },
    { name: 'with CI=true by sudo', machine: { ...debian, isCi: true }, sudo: ['sudo -n'] },
  ])('are installed on Debian $name, without their services', ({ machine, sudo }) => {
    const { message, printed, calls } = look(machine);
    expect(message).toBeUndefined();
    expect(calls).toEqual([
      ...sudo,
      expect.stringMatching(/apt-get update$/),
      ...sudo,
      '1 noninteractive apt-get install -y --no-install-recommends ledger browser',
    ]);
    expect(printed).toContain('The tests start programs of ledger, browser, which are missing.');
    expect(printed).not.toContain('Reading package lists');
  });

  test('are named in one message, with one command, if someone has to be asked', () => {
    const { message, calls } = look(debian);
    expect(message).toContain(
      'missing: ledger-server, ledger-client, some-browser. This user may not install them',
    );
    expect(message).toContain(` by \`sudo apt-get update && sudo ${INSTALL} ledger browser\`. Without them`);
    expect(message).not.toContain('\n');
    expect(message).not.toContain('brew');
    expect(calls).toEqual(['']);
  });

  test('are named with what apt has printed, if apt fails', () => {
    const { message, printed } = look({ ...debian, isRoot: true }, 'fails');
    expect(printed).toContain('no route to the mirror');
    expect(message).toContain(` by \`apt-get update && ${INSTALL} ledger browser\`.`);
  });

  test('are installed on Ubuntu but for a package that is a stub', () => {
    const { message, calls } = look({ ...debian, system: 'ubuntu', isRoot: true });
    expect(calls.at(-1)).toMatch(/ ledger$/);
    expect(message).toContain('missing: some-browser. On');
    expect(message).toContain('On Ubuntu the package chromium is a stub that needs snap');
    expect(message).not.toContain('apt-get');
  });

  test.each([
    { system: 'macos', hasApt: false },
    { system: 'other', hasApt: true },
  ] as const)('have a command of Homebrew on $system', ({ system, hasApt }) => {
    const { message, calls } = look({ system, isRoot: true, isCi: true });
    expect(message).toContain('`brew install brewed-ledger brewed-browser`');
    expect(message?.includes('apt-get')).toBe(hasApt);
    expect(calls).toEqual(['']);
  });
});

test('a folder without room for the data of servers is named, with the way out', () => {
  // A file system without any room: that of the processes, on macOS that of the devices.
  const folder = existsSync('/proc') ? '/proc' : '/dev';
  expect(missingDisk(folder)).toMatch(
    new RegExp(`^No test has run, because ${folder} has 0.0 GB .*need 1 GB. .*\`npm run test:quick\``),
  );
  expect(missingDisk()).toBeUndefined();
});

test('a Chrome counts as a Chromium, and a script that only asks for a snap does not', () => {
  const folder = replacePath(['true']);
  writeScript(join(folder, 'chromium-browser'), '#!/bin/sh', 'echo "install the snap" >&2; exit 1');
  expect(findBrowser()).not.toBe(join(folder, 'chromium-browser'));
  symlinkSync(join(folder, 'true'), join(folder, 'google-chrome'));
  expect(findBrowser()).toBe(join(folder, 'google-chrome'));
});

describe('npm test, with nothing but Node.js on PATH,', () => {
  function run(args: readonly string[]) {
    const PATH = replacePath(['node', 'npm', 'sh']);
    return startCommand('npm', ['test', '--', ...args], { PATH, HOME: PATH, NO_COLOR: '1' }, packageRoot);
  }

  test('ends with one message before any test runs', async () => {
    const built = join(packageRoot, 'dist', 'src', 'index.js');
    const { ctimeMs } = statSync(built);
    const { exit, lines } = run([]);
    expect(await exit).toBe(1);
    const output = lines.join('\n');
    expect(output.match(/No test has run, because .*/g)).toEqual([
      expect.stringMatching(/: redis-server, redis-cli, .*Chromium or Chrome, .*curl/),
    ]);
    expect(output).not.toMatch(/✓|✗|Test Files|^ +at /m);
    expect(statSync(built).ctimeMs).toBe(ctimeMs);
  });

  test('passes on its arguments, and runs quick tests', async () => {
    const { exit, lines } = run(['test/receiver/values/parse-with-schema.test.ts', '--reporter=verbose']);
    const code = await exit;
    expect(lines.join('\n')).toMatch(/✓ +\|?quick/);
    expect(code).toBe(0);
  });
});
