import { findBrowser, findJava, findProgram } from '../../tools/programs.js';

/** A program that tests start. */
export interface NeededProgram {
  readonly name: string;
  readonly isInstalled: () => boolean;
  /** Its package in Debian. */
  readonly apt: string;
  /** Ubuntu's package of that name has no program: it asks for a snap, which a container cannot install. */
  readonly isStubOnUbuntu?: boolean;
  /** Its formula or cask in Homebrew. */
  readonly brew: string;
}

const servers: readonly NeededProgram[] = [
  ...inOnePackage(['redis-server', 'redis-cli'], 'redis-server', 'redis'),
  ...inOnePackage(['initdb', 'postgres', 'psql', 'pg_dump'], 'postgresql', 'postgresql@17'),
];

// A slim image of Node.js lacks it.
const git: readonly NeededProgram[] = inOnePackage(['git'], 'git', 'git');

const browser: NeededProgram = {
  name: 'Chromium or Chrome',
  isInstalled: () => findBrowser() !== undefined,
  apt: 'chromium',
  isStubOnUbuntu: true,
  // macOS refuses to open the Chromium of Homebrew, because nobody has signed it.
  brew: 'google-chrome',
};

/** For the emulator of DynamoDB. */
const java: NeededProgram = {
  name: 'java',
  isInstalled: () => findJava() !== undefined,
  apt: 'default-jre-headless',
  brew: 'openjdk',
};

/** For examples/mysql-store.ts. */
const mariadb: readonly NeededProgram[] = inOnePackage(['mariadbd'], 'mariadb-server-core', 'mariadb');

/** To compile better-sqlite3. */
const compiler: readonly NeededProgram[] = [
  ...inOnePackage(['python3'], 'python3', 'python@3'),
  ...inOnePackage(['make'], 'make', 'make'),
  ...inOnePackage(['g++'], 'g++', 'gcc'),
];

const first: readonly NeededProgram[] = [
  ...servers,
  browser,
  ...inOnePackage(['openssl'], 'openssl', 'openssl'),
  ...inOnePackage(['curl'], 'curl', 'curl'),
  // A slim image of Node.js lacks it, too.
  ...inOnePackage(['ps'], 'procps', 'procps'),
];

const local: readonly NeededProgram[] = [
  ...first,
  ...inOnePackage(['pgbouncer'], 'pgbouncer', 'pgbouncer'),
  ...inOnePackage(['promtool'], 'prometheus', 'prometheus'),
  // For the proxy of docs/production.md.
  ...inOnePackage(['nginx'], 'nginx', 'nginx'),
  // Commands of docs/moving.md.
  ...inOnePackage(['sqlite3'], 'sqlite3', 'sqlite'),
  ...git,
];

/** By the projects of vitest.config.ts. Programs that every Debian has, such as `sh`, are not named. */
export const neededPrograms: Readonly<
  Record<'first' | 'program' | 'storm' | 'matrix', readonly NeededProgram[]>
> = {
  first,
  program: local,
  storm: local,
  matrix: [...servers, ...mariadb, ...git, ...compiler, java],
};

function inOnePackage(names: readonly string[], apt: string, brew: string): readonly NeededProgram[] {
  return names.map((name) => ({ name, isInstalled: () => findProgram(name) !== undefined, apt, brew }));
}
