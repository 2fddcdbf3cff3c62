import { spawnSync } from 'node:child_process';

/**
 * Whether this machine has promtool: without it what needs it is skipped, and test/telemetry/setup.ts says so.
 */
export function isPromtoolInstalled(): boolean {
  return spawnSync('promtool', ['--version']).status === 0;
}
