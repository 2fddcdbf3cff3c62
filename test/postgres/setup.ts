import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { isPgBouncerInstalled, isPostgresInstalled } from './installed.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data directory that those of all servers are copies of. */
    readonly postgresTemplate: string;
  }
}

const INSTALL_COMMAND = 'apt-get update && apt-get install -y postgresql pgbouncer';

/** Installs what is missing, and makes what all servers begin with; returns what removes it. */
export default async function setup({ provide }: TestProject): Promise<(() => void) | undefined> {
  install();
  if (!isPostgresInstalled()) return undefined;
  // Not before the installation, which creates the user that servers run as.
  const { createTemplate } = await import('./template.ts');
  const { template, remove } = createTemplate();
  provide('postgresTemplate', template);
  return remove;
}

/**
 * Installs PostgreSQL and PgBouncer where nobody has to be asked: as root on Debian. Elsewhere the suites
 * that need them are skipped, and with `CI=true` the tests fail instead.
 */
function install(): void {
  if (missing() === '') return;
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    announce(`${missing()} is missing; installing it: ${INSTALL_COMMAND}`);
    // The tests start servers of their own, so the packages need not start theirs.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    spawnSync('sh', ['-c', INSTALL_COMMAND], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (missing() === '') return;
  }
  const complaint = `${missing()} is missing. Install it: ${INSTALL_COMMAND}`;
  if (process.env.CI === 'true') throw new Error(complaint);
  announce(`THE TESTS THAT NEED ${missing().toUpperCase()} ARE SKIPPED: ${complaint}`);
}

/** Nothing that needs PgBouncer runs without PostgreSQL. */
function missing(): string {
  if (!isPostgresInstalled()) return 'PostgreSQL';
  return isPgBouncerInstalled() ? '' : 'PgBouncer';
}

function announce(text: string): void {
  const frame = '!'.repeat(text.length + 4);
  process.stderr.write(`\n${frame}\n! ${text} !\n${frame}\n\n`);
}
