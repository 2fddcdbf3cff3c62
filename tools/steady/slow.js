// @ts-check
// Limits the processor time of a command and of all that it starts to a fifth of its cores: by a cgroup if this user
// may make one, else by stopping its process group in turns.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PERIOD_MICROSECONDS = 100_000;

/** The two versions of Linux' cgroups: their folder, and the files of a group that limit it. */
const VERSIONS = [
  {
    parent: '/sys/fs/cgroup',
    mark: 'cgroup.controllers',
    limit: (/** @type {string} */ group, /** @type {number} */ quota) =>
      writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD_MICROSECONDS}`),
  },
  {
    parent: '/sys/fs/cgroup/cpu',
    mark: 'cpu.cfs_quota_us',
    limit: (/** @type {string} */ group, /** @type {number} */ quota) => {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_MICROSECONDS));
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota));
    },
  },
];

/**
 * How a run is slowed. `prefix` has the words that go before its command; `begin` is called with its process group, and
 * returns the function that ends what was begun.
 *
 * @typedef {{
 *   readonly name: string,
 *   readonly prefix: readonly string[],
 *   readonly needsGroup: boolean,
 *   readonly begin: (group: number) => () => void,
 * }} Slowness
 */

/** @returns {Slowness} */
export function slowness(/** @type {number} */ cores) {
  const groups = VERSIONS.map((version) => inCgroup(version, cores));
  return groups.find((found) => found !== undefined) ?? inTurns();
}

/** @returns {Slowness | undefined} */
function inCgroup(
  /** @type {typeof VERSIONS[number]} */ { parent, mark, limit },
  /** @type {number} */ cores,
) {
  if (!existsSync(join(parent, mark))) return undefined;
  const group = join(parent, `posthorn-steady-${process.pid}`);
  try {
    mkdirSync(group);
    limit(group, (cores * PERIOD_MICROSECONDS) / 5);
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return undefined;
  }
  process.on('exit', () => rmdirSync(group));
  const processes = join(group, 'cgroup.procs');
  return {
    name: 'a cgroup',
    needsGroup: false,
    prefix: ['sh', '-c', 'echo $$ > "$0" && exec "$@"', processes],
    begin: () => () => moveAll(processes, join(parent, 'cgroup.procs')),
  };
}

/** A group that has a process cannot be removed; a process that outlives the run goes back to where it came from. */
function moveAll(/** @type {string} */ from, /** @type {string} */ to) {
  for (const id of readFileSync(from, 'utf8').split('\n').filter(Boolean)) {
    try {
      writeFileSync(to, id);
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** @returns {Slowness} */
function inTurns() {
  return {
    name: 'SIGSTOP in turns',
    needsGroup: true,
    prefix: [],
    begin: (group) => {
      // Its input is a pipe that is closed when this process ends, however it ends.
      const { stdin } = spawn(
        process.execPath,
        [join(import.meta.dirname, 'stop-in-turns.js'), String(group)],
        {
          stdio: ['pipe', 'ignore', 'inherit'],
        },
      );
      return () => stdin.end();
    },
  };
}
