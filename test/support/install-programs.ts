import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { missingDisk } from './free-disk.ts';
import { type NeededProgram, neededPrograms } from './needed-programs.ts';

const UBUNTU_STUB =
  'On Ubuntu the package chromium is a stub that needs snap: install Google Chrome from ' +
  'https://www.google.com/chrome/ instead, or put another Chrome or Chromium on PATH.';

/** What decides how missing programs are installed. */
export interface Machine {
  readonly system: 'debian' | 'ubuntu' | 'macos' | 'other';
  readonly isRoot: boolean;
  /** Whether `CI` is `true`: then the machine is there for the tests, and `sudo` may change it. */
  readonly isCi: boolean;
}

/**
 * Runs before all tests, and installs what they start. Without it no test runs, because a skipped test looks
 * like one that passes.
 */
export default function setup({ name }: TestProject): void {
  if (name !== 'first' && name !== 'program' && name !== 'storm' && name !== 'matrix')
    throw new Error(`No programs are named for the project ${name}.`);
  const print = (text: string): void => void process.stderr.write(`\n${text}\n`);
  const message = missingDisk() ?? installPrograms(neededPrograms[name], thisMachine(), print);
  if (message === undefined) return;
  print(message);
  // An error would be shown with the frames of Vitest, and would leave its watch mode running.
  process.exit(1);
}

/** Installs what is missing if nobody has to be asked; returns the way out if something is missing then. */
export function installPrograms(
  needed: readonly NeededProgram[],
  machine: Machine,
  print: (text: string) => void,
): string | undefined {
  const missing = missingOf(needed);
  const packages = aptPackages(missing, machine);
  if (packages.length > 0 && mayInstall(machine)) {
    const command = aptCommand(packages, machine.isRoot ? '' : 'sudo -n ');
    print(
      `The tests start programs of ${packages.join(', ')}, which are missing. They are installed now, and\n` +
        `no service of theirs is started: ${command}`,
    );
    run(command, print);
  }
  const stillMissing = missingOf(missing);
  return stillMissing.length === 0 ? undefined : wayOut(stillMissing, machine);
}

function missingOf(programs: readonly NeededProgram[]): readonly NeededProgram[] {
  return programs.filter(({ isInstalled }) => !isInstalled());
}

function mayInstall({ system, isRoot, isCi }: Machine): boolean {
  return (system === 'debian' || system === 'ubuntu') && (isRoot || isCi);
}

function aptPackages(missing: readonly NeededProgram[], { system }: Machine): readonly string[] {
  const installable = missing.filter(({ isStubOnUbuntu }) => system !== 'ubuntu' || isStubOnUbuntu !== true);
  return [...new Set(installable.map(({ apt }) => apt))];
}

/** With `RUNLEVEL=1` Debian starts no service that it installs: the tests start servers of their own. */
function aptCommand(packages: readonly string[], sudo: string): string {
  const settings = 'RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive';
  const options = '-y --no-install-recommends';
  // `env`, because `sudo` hands over no variable of its caller.
  return `${sudo}apt-get update && ${sudo}env ${settings} apt-get install ${options} ${packages.join(' ')}`;
}

/** Runs a command, and prints what it has printed only if it fails. */
function run(command: string, print: (text: string) => void): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  if (status !== 0) print(`The installation failed:\n${stdout}${stderr}`);
}

/** One line with all that is missing, one command for it, and the way without. */
function wayOut(missing: readonly NeededProgram[], machine: Machine): string {
  const { system, isRoot } = machine;
  const names = missing.map(({ name }) => name).join(', ');
  const packages = aptPackages(missing, machine);
  const apt = packages.length === 0 ? [] : [aptCommand(packages, isRoot ? '' : 'sudo ')];
  const brew = [`brew install ${[...new Set(missing.map((program) => program.brew))].join(' ')}`];
  const commands = { debian: apt, ubuntu: apt, macos: brew, other: [...apt, ...brew] }[system];
  const hasStub = system === 'ubuntu' && missing.some(({ isStubOnUbuntu }) => isStubOnUbuntu);
  return [
    `No test has run, because programs that the tests start are missing: ${names}.`,
    ...(mayInstall(machine) ? [] : ['This user may not install them unasked.']),
    ...(commands.length === 0 ? [] : [`Install them by \`${commands.join('` or `')}\`.`]),
    ...(hasStub ? [UBUNTU_STUB] : []),
    'Without them, and without root, `npm run test:quick` runs the tests that start no program.',
  ].join(' ');
}

function thisMachine(): Machine {
  return { system: thisSystem(), isRoot: process.getuid?.() === 0, isCi: process.env.CI === 'true' };
}

function thisSystem(): Machine['system'] {
  if (process.platform === 'darwin') return 'macos';
  if (!existsSync('/etc/debian_version')) return 'other';
  return /^ID=ubuntu$/m.test(readFileSync('/etc/os-release', 'utf8')) ? 'ubuntu' : 'debian';
}
