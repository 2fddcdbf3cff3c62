import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN_VERSIONS = '/usr/lib/postgresql';
/** Not in the `PATH` of every user. */
const DEBIAN_SYSTEM_PROGRAMS = '/usr/sbin';
const PROGRAMS = ['initdb', 'postgres', 'psql'];

/**
 * Whether this machine has what the PostgreSQL suites run: without it they are skipped, and
 * test/postgres/setup.ts says so.
 */
export function isPostgresInstalled(): boolean {
  return PROGRAMS.every((name) => spawnSync(programPath(name), ['--version']).status === 0);
}

/** Whether this machine has PgBouncer besides. */
export function isPgBouncerInstalled(): boolean {
  return spawnSync(programPath('pgbouncer'), ['--version']).status === 0;
}

/** Debian keeps the programs of a server outside of `PATH`, in a folder for each version. */
export function programPath(name: string): string {
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : [];
  const newest = versions.sort((one, other) => Number(other) - Number(one));
  const paths = [
    ...newest.map((version) => join(DEBIAN_VERSIONS, version, 'bin', name)),
    join(DEBIAN_SYSTEM_PROGRAMS, name),
  ];
  return paths.find((path) => existsSync(path)) ?? name;
}
