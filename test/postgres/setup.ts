import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isPostgresInstalled } from './installed.ts';

const INSTALL_COMMAND = 'apt-get update && apt-get install -y postgresql';

/**
 * Installs PostgreSQL where nobody has to be asked: as root on Debian. Elsewhere the suites that need it are
 * skipped, and with `CI=true` the tests fail instead.
 */
export default function setup(): void {
  if (isPostgresInstalled()) return;
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    announce(`PostgreSQL is missing; installing it: ${INSTALL_COMMAND}`);
    // The tests start servers of their own, so the package need not start the one that it creates.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    spawnSync('sh', ['-c', INSTALL_COMMAND], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (isPostgresInstalled()) return;
  }
  const complaint = `PostgreSQL is missing. Install it: ${INSTALL_COMMAND}`;
  if (process.env.CI === 'true') throw new Error(complaint);
  announce(`THE TESTS THAT NEED POSTGRESQL ARE SKIPPED: ${complaint}`);
}

function announce(text: string): void {
  const frame = '!'.repeat(text.length + 4);
  process.stderr.write(`\n${frame}\n! ${text} !\n${frame}\n\n`);
}
