// The clock comes first: the sources keep functions of the process that it replaces.
import '../clock.ts';
import { KeyWorld } from './world.ts';

/** Of a way, so many actions are chosen in all possible orders; after that the world is brought to rest. */
const DEPTH = Number(process.argv[2]);
/** A world that has not come to rest by then never will. */
const MOST_ACTIONS = 500;

/** Goes a way, and then takes the first action each time. Returns how many actions there were at its end. */
async function go(
  choices: readonly number[],
): Promise<{ count: number; broken: string | undefined; names: string[] }> {
  const world = new KeyWorld();
  const names: string[] = [];
  let count = 0;
  for (let step = 0; step < MOST_ACTIONS; step += 1) {
    const actions = world.actions();
    if (step === choices.length) count = actions.length;
    const action = actions[choices[step] ?? 0];
    if (action === undefined || world.broken !== undefined) break;
    names.push(action.name);
    await world.perform(action);
  }
  if (world.actions().length > 0) world.broken ??= 'the world does not come to rest';
  world.checkAtRest();
  return { count, broken: world.broken, names };
}

let ways = 0;
let open: number[][] = [[]];
for (let depth = 0; depth <= DEPTH; depth += 1) {
  const next: number[][] = [];
  for (const choices of open) {
    const { broken, count, names } = await go(choices);
    ways += 1;
    if (broken !== undefined) {
      process.stdout.write(`${JSON.stringify({ ways, broken, names })}\n`);
      process.exit(1);
    }
    // The way that goes on with the first action is this one, but its later actions may be others.
    for (let choice = 0; choice < count; choice += 1) next.push([...choices, choice]);
  }
  open = next;
}
process.stdout.write(`${JSON.stringify({ ways })}\n`);
