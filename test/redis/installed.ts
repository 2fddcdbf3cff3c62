import { spawnSync } from 'node:child_process';

/**
 * Whether this machine has what the Redis suites run: without it they are skipped, and test/redis/setup.ts
 * says so.
 */
export function isRedisInstalled(): boolean {
  return ['redis-server', 'redis-cli'].every((program) => spawnSync(program, ['--version']).status === 0);
}
