import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** @typedef {'server' | 'load' | 'store'} Role */

const canPin = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;

/**
 * The server has a core of its own. Redis or PostgreSQL shares that of the load where there is no third.
 *
 * @type {Readonly<Record<Role, number>>}
 */
const cores = { server: 0, load: 1, store: availableParallelism() >= 3 ? 2 : 1 };

/**
 * A command that runs on the core of its role, where that can be had.
 *
 * @param {Role} role
 * @param {readonly string[]} command
 * @returns {[string, ...string[]]}
 */
export function pinned(role, command) {
  const [program = '', ...rest] = command;
  return canPin ? ['taskset', '-c', String(cores[role]), program, ...rest] : [program, ...rest];
}

/** For the head of the table. */
export const pinningNote = canPin
  ? `server on core ${cores.server}, load on core ${cores.load}, Redis and PostgreSQL on core ${cores.store}`
  : 'nothing is pinned (taskset and two cores are needed)';
