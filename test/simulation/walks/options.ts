import { parseArgs } from 'node:util';
import { profiles } from './profiles.ts';

export const HELP = `npm run simulate -- [options]

Walks at random through worlds of faults, with the receiver as it ships. Stops at the first broken promise: then it
prints the story of a walk that breaks it, and the command that repeats it, and ends with exit code 1.

  --seed N        the seed of the first walk; each further walk has the next number. A new one without this option
  --walks N       how many walks; 100,000 by default
  --seconds S     no walk begins after this time
  --profile NAME  the kind of world: ${Object.keys(profiles).join(', ')}; "any" by default
  --story         tells the walk of the seed, without all that does not matter to its end
  --until TEXT    goes on until this promise is broken, and counts the walks that break one
  --all           goes on after a broken promise, and counts the walks that break one
  --explore       visits all states of smaller worlds instead: see \`npm run simulate -- --explore --help\`
  --help          prints this text
`;

export interface WalkOptions {
  readonly seed: number;
  readonly walks: number;
  readonly seconds: number;
  readonly profile: string;
  readonly story: boolean;
  readonly until: string | undefined;
  readonly all: boolean;
  readonly help: boolean;
}

/** Reads the options of the command. `newSeed` is taken if there is none. */
export function readOptions(newSeed: number): WalkOptions {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(newSeed) },
      walks: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: 'Infinity' },
      profile: { type: 'string', default: 'any' },
      until: { type: 'string' },
      story: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { all, seed, walks, seconds, until } = values;
  return {
    ...values,
    until,
    all: all || until !== undefined,
    seed: readNumber('seed', seed),
    walks: readNumber('walks', walks),
    seconds: readNumber('seconds', seconds),
  };
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new RangeError(`--${name} must be a number, not ${text}`);
  return value;
}
