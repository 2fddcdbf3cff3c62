import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isPromtoolInstalled } from './installed.ts';

const INSTALL_COMMAND = 'apt-get update && apt-get install -y --no-install-recommends prometheus';

/**
 * Installs promtool, which Debian packs with Prometheus, where nobody has to be asked: as root on Debian.
 * Elsewhere the tests that need it are skipped, and with `CI=true` the tests fail instead.
 */
export default function setup(): void {
  if (isPromtoolInstalled()) return;
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    announce(`promtool is missing; installing it: ${INSTALL_COMMAND}`);
    // The tests only run promtool, so the package need not start its service.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    spawnSync('sh', ['-c', INSTALL_COMMAND], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (isPromtoolInstalled()) return;
  }
  const complaint = `promtool is missing. Install it: ${INSTALL_COMMAND}`;
  if (process.env.CI === 'true') throw new Error(complaint);
  announce(`THE TESTS THAT NEED PROMTOOL ARE SKIPPED: ${complaint}`);
}

function announce(text: string): void {
  const frame = '!'.repeat(text.length + 4);
  process.stderr.write(`\n${frame}\n! ${text} !\n${frame}\n\n`);
}
