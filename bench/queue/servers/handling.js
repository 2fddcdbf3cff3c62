import { Child } from '../../run/child.js';
import { ratioSpread, spread } from './spread.js';
import { BACKENDS, programOf } from './start-servers.js';

/** @typedef {import('./worker.js').Handled} Handled */

const JOBS = 1_000;
const CONCURRENCIES = /** @type {const} */ ([10, 50]);

/**
 * Jobs that one worker process handles in a second, with an empty handler and its store on the same server.
 *
 * @param {import('./start-servers.js').Servers} servers
 * @param {number} rounds
 * @returns {Promise<import('./start-servers.js').Table>}
 */
export async function measureHandling(servers, rounds) {
  /** @type {Map<string, Handled[]>} */
  const turns = new Map();
  const children = BACKENDS.map((backend) => ({
    backend,
    child: new Child('server', [programOf('worker.js')], { ...servers.environment, BACKEND: backend }),
  }));
  try {
    await Promise.all(children.map(({ child }) => child.message()));
    const contenders = CONCURRENCIES.flatMap((concurrency) =>
      children.map((one) => ({ ...one, concurrency, name: `${one.backend} ${concurrency}` })),
    );
    for (let round = 0; round <= rounds; round += 1) {
      for (const { child, concurrency, name } of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const handled = await child.ask({ type: 'handle', jobs: JOBS, concurrency, isFilled: false });
        // The first round warms up.
        turns.set(name, round === 0 ? [] : [...(turns.get(name) ?? []), handled]);
      }
    }
  } finally {
    await Promise.all(children.map(({ child }) => child.stop()));
  }
  const of = (/** @type {string} */ name, /** @type {keyof Handled} */ key) =>
    (turns.get(name) ?? []).map((turn) => turn[key]);
  return {
    title: `Handling: jobs a second of one worker, ${rounds} rounds of ${JOBS} jobs`,
    head: ['concurrency', 'PostgreSQL', 'Redis', 'ratio', 'µs CPU, PostgreSQL', 'µs CPU, Redis'],
    rows: CONCURRENCIES.map((concurrency) => [
      String(concurrency),
      spread(of(`postgres ${concurrency}`, 'perSecond')),
      spread(of(`redis ${concurrency}`, 'perSecond')),
      ratioSpread(of(`postgres ${concurrency}`, 'perSecond'), of(`redis ${concurrency}`, 'perSecond')),
      spread(of(`postgres ${concurrency}`, 'cpuMicroseconds')),
      spread(of(`redis ${concurrency}`, 'cpuMicroseconds')),
    ]),
  };
}
