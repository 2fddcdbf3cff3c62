import { Child } from '../../run/child.js';
import { ratioSpread, spread } from './spread.js';
import { BACKENDS, programOf, TITLES } from './start-servers.js';

/** @typedef {import('./adder.js').Added} Added */

const TURN_MS = 500;
const CONTENDERS = BACKENDS.flatMap((backend) =>
  [1, 32].flatMap((atOnce) =>
    /** @type {const} */ (['posthorn', 'engine']).map((adder) => ({ backend, atOnce, adder })),
  ),
);

/**
 * Jobs added in a second by `queue.add` of posthorn, and by that of BullMQ alone, in one process.
 *
 * @param {import('./start-servers.js').Servers} servers
 * @param {number} rounds
 * @returns {Promise<import('./start-servers.js').Table>}
 */
export async function measureAdding(servers, rounds) {
  const turns = await takeTurns(servers, rounds);
  const of = (/** @type {string} */ name, /** @type {'perSecond' | 'cpuMicroseconds'} */ key) =>
    (turns.get(name) ?? []).map((turn) => turn[key]);
  const rows = BACKENDS.flatMap((backend) =>
    [1, 32].map((atOnce) => {
      const [posthorn, engine] = /** @type {const} */ (['posthorn', 'engine']).map((adder) =>
        nameOf({ backend, atOnce, adder }),
      );
      return [
        `${TITLES[backend]}, ${atOnce} at once`,
        spread(of(engine, 'perSecond')),
        spread(of(posthorn, 'perSecond')),
        ratioSpread(of(posthorn, 'perSecond'), of(engine, 'perSecond')),
        ratioSpread(of(posthorn, 'cpuMicroseconds'), of(engine, 'cpuMicroseconds')),
      ];
    }),
  );
  return {
    title: `Adding: jobs a second, ${rounds} rounds of ${TURN_MS} ms each`,
    head: ['server', 'BullMQ alone', 'posthorn', 'ratio', 'ratio of CPU time of a job'],
    rows,
  };
}

/**
 * @param {import('./start-servers.js').Servers} servers
 * @param {number} rounds
 */
async function takeTurns({ environment }, rounds) {
  /** @type {Map<string, Added[]>} */
  const turns = new Map(CONTENDERS.map((contender) => [nameOf(contender), []]));
  const child = new Child('server', [programOf('adder.js')], environment);
  try {
    // The first round warms up. Each second one goes backwards, so that none is always the first.
    for (let round = 0; round <= rounds; round += 1) {
      for (const contender of round % 2 === 0 ? CONTENDERS : CONTENDERS.toReversed()) {
        const added = await child.ask({ type: 'add', ...contender, ms: TURN_MS, isKept: false });
        if (round > 0) turns.get(nameOf(contender))?.push(added);
      }
    }
  } finally {
    await child.stop();
  }
  return turns;
}

/** @param {{ backend: string, atOnce: number, adder: string }} contender */
function nameOf({ backend, atOnce, adder }) {
  return `${backend} ${atOnce} ${adder}`;
}
