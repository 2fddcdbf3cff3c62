import { parseArgs } from 'node:util';
import { contenders } from './contenders.js';

export const usage = `npm run bench -- [options]
  --quick               a few minutes: fewer contenders, shorter slots
  --only a,b            these contenders only: ${contenders.map(({ name }) => name).join(', ')}
  --rounds 5            how often all of them take their turn
  --duration 4          seconds that are measured in each slot
  --warm-up 5           seconds before
  --connections 50
  --load-awake          the load never sleeps, so that no server has to wake it (not for contenders with a store)
  --json file           everything that was measured
  --server-flags="…"    for the node of the servers, such as --cpu-prof
  --help`;

/**
 * Reads the command line. Ends the program where it is told to, or is told something unknown.
 *
 * @param {readonly string[]} argv
 */
export function readOptions(argv) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      duration: { type: 'string' },
      'warm-up': { type: 'string' },
      connections: { type: 'string', default: '50' },
      'load-awake': { type: 'boolean', default: false },
      json: { type: 'string' },
      'server-flags': { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    process.exit();
  }
  const seconds = (/** @type {string | undefined} */ given, /** @type {number} */ usual) =>
    1_000 * readNumber(given ?? String(usual));
  const chosen = choose(values.only, values.quick);
  if (values['load-awake'] && chosen.some(({ needsRedis, needsPostgres }) => needsRedis || needsPostgres))
    fail('--load-awake would take the core of the store: choose contenders without one by --only');
  return {
    chosen,
    rounds: readNumber(values.rounds),
    json: values.json,
    slot: {
      connections: readNumber(values.connections),
      loadFlags: values['load-awake'] ? ['--awake'] : [],
      // What V8 has compiled depends on how often code has run. toNode takes a tenth less time after 150,000
      // events, for which these seconds suffice, than after 60,000; slower contenders have fewer. With bodies
      // of 100 kB, of which a second brings 2,000, posthorn gets faster, compared to MIN, for some 35,000.
      warmUpMs: seconds(values['warm-up'], values.quick ? 1.2 : 5),
      warmUpEvents: values.quick ? 10_000 : 40_000,
      durationMs: seconds(values.duration, values.quick ? 1 : 4),
      serverFlags: values['server-flags'].split(' ').filter(Boolean),
    },
  };
}

/**
 * @param {string | undefined} only
 * @param {boolean} isQuick
 */
function choose(only, isQuick) {
  if (only === undefined) return contenders.filter((contender) => !isQuick || contender.isQuick);
  const names = only.split(',');
  const unknown = names.find((name) => contenders.every((contender) => contender.name !== name));
  if (unknown !== undefined) fail(`there is no contender "${unknown}"`);
  return contenders.filter(({ name }) => names.includes(name));
}

/** @param {string} text */
function readNumber(text) {
  const value = Number(text);
  return value > 0 ? value : fail(`"${text}" is not a number above 0`);
}

/**
 * @param {string} complaint
 * @returns {never}
 */
function fail(complaint) {
  console.error(`${complaint}\n\n${usage}`);
  process.exit(2);
}
