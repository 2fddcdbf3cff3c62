// The clock comes first: the sources keep functions of the process that it replaces.
import '../clock.ts';
import { HELP, readOptions, type WalkOptions } from './options.ts';
import { shrink } from './shrink.ts';
import { repeat, walk } from './walk.ts';

const PROGRESS_SECONDS = 60;

/** A promise that was broken, and the shortest walk that broke it. */
interface Broken {
  count: number;
  seed: number;
  length: number;
}

const startedAt = process.hrtime.bigint();
const secondsSoFar = (): number => Number(process.hrtime.bigint() - startedAt) / 1e9;
const print = (text: string): void => void process.stdout.write(`${text}\n`);
// A worker prints that its connection was lost.
console.error = () => {};

async function run(options: WalkOptions): Promise<void> {
  const { all, profile, seconds, seed, until = '', walks } = options;
  const broken = new Map<string, Broken>();
  let steps = 0;
  let done = 0;
  let printedAt = 0;
  const numbers = (): string =>
    `${done} walks from seed ${seed}, ${steps} steps, ${Math.round(secondsSoFar())} seconds`;
  const isEnough = (): boolean => secondsSoFar() >= seconds || broken.has(until) || (!all && broken.size > 0);
  while (done < walks && !isEnough()) {
    const walked = await walk(profile, seed + done);
    done += 1;
    steps += walked.steps;
    if (walked.broken !== undefined) note(broken, walked.broken.promise, walked.seed, walked.names.length);
    if (secondsSoFar() - printedAt < PROGRESS_SECONDS) continue;
    printedAt = secondsSoFar();
    print(numbers());
  }
  print(numbers());
  for (const [promise, { count, seed: ofBroken }] of broken)
    print(`${count} × ${promise} (seed ${ofBroken})`);
  const [first] = broken.values();
  if (first === undefined) return;
  process.exitCode = 1;
  if (!all) await tell(profile, first.seed);
}

function note(broken: Map<string, Broken>, promise: string, seed: number, length: number): void {
  const known = broken.get(promise) ?? { count: 0, seed, length };
  const shortest = length < known.length ? { seed, length } : known;
  broken.set(promise, { ...known, ...shortest, count: known.count + 1 });
}

/** Tells a walk, without all that does not matter to its end. */
async function tell(profile: string, seed: number): Promise<void> {
  const walked = await walk(profile, seed);
  const shown = walked.broken === undefined ? walked : await shrink(walked);
  print(JSON.stringify(shown.configuration));
  await repeat(shown, shown.names, print);
  const { broken } = shown;
  print(broken === undefined ? 'No promise was broken.' : `BROKEN: ${broken.promise}: ${broken.where}`);
  print(`npm run simulate -- --profile '${profile}' --seed ${seed} --story`);
}

const options = readOptions(Number(startedAt % 1_000_000_000n));
if (options.help) print(HELP);
else if (options.story) await tell(options.profile, options.seed);
else await run(options);
