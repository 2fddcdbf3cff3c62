import { clock } from '../clock.ts';
import type { Action } from './action.ts';
import { answerTo, failHandler } from './operations.ts';
import { replay } from './operators.ts';
import { checkAtRest } from './rest-promises.ts';
import { deliver, dueAtOf } from './service.ts';
import { nextMoment, passTo, time } from './time.ts';
import type { WalkWorld } from './world.ts';

/** A world that has not come to rest by then never will. */
const MOST_STEPS = 20_000;

/** An action that is not chosen. */
type Happening = Omit<Action, 'kind'>;

/** Called before each step of the world's way to rest, with what happens. */
export type OnStep = (name: string) => void;

/**
 * Brings the world to rest, without further faults: all that is pending is answered, handlers succeed unless
 * their event is poison, and time passes until nobody has anything to do. Then all letters are replayed.
 */
export async function bringToRest(world: WalkWorld, onStep: OnStep): Promise<void> {
  await goOn(world, onStep, false);
  checkAtRest(world);
  if (world.promises.broken !== undefined) return;
  await replayAll(world, onStep);
}

/** A replay of a letter succeeds, whatever has happened before, and removes the letter. */
async function replayAll(world: WalkWorld, onStep: OnStep): Promise<void> {
  const { configuration, letters, promises } = world;
  if (letters.size === 0) return;
  // Until then a letter may say that its handlers are running. The clocks may have been set back.
  const [process] = world.running.filter(({ closingSince }) => closingSince === undefined);
  if (process === undefined) return;
  process.wallShiftMs = 0;
  const until = clock.now + configuration.times.maxRunMs + configuration.times.leaseMs;
  while (clock.now < until) {
    await passTo(world, until);
    await goOn(world, onStep, true);
  }
  for (const id of [...letters.keys()]) {
    onStep(`${process.name} replays the letter of ${id}, at last`);
    process.run(() => replay(world, process, id));
    await clock.settle();
    await goOn(world, onStep, true);
    if (letters.has(id)) promises.break('the replay of a letter succeeds, and removes the letter', id);
  }
  checkAtRest(world);
}

async function goOn(world: WalkWorld, onStep: OnStep, isHealed: boolean): Promise<void> {
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const action = nextAction(world, isHealed);
    if (action === undefined || world.promises.broken !== undefined) return;
    onStep(action.name);
    await world.perform(action);
  }
  world.promises.break('the world comes to rest', `not in ${MOST_STEPS} steps`);
}

/** The next action on the way to rest. */
function nextAction(world: WalkWorld, isHealed: boolean): Happening | undefined {
  const { orphans, processes, queue } = world;
  orphans.length = 0;
  const frozen = processes.find(({ state }) => state === 'frozen');
  if (frozen !== undefined) return { name: `${frozen.name} goes on`, act: () => frozen.thaw() };
  const closed = world.running.find(({ isClosed }) => isClosed);
  if (closed !== undefined) return { name: `${closed.name} has closed, and ends`, act: () => closed.die() };
  if (world.running.every(({ closingSince }) => closingSince !== undefined))
    return { name: 'Z starts', act: () => world.start(`Z${world.processes.length}`) };
  const [due] = time(world).filter(({ name }) => name.startsWith('a timer'));
  return answer(world, isHealed) ?? due ?? takeJob(world) ?? send(world) ?? stalled() ?? pass(world);

  function stalled(): Happening | undefined {
    const [job] = queue.stalled;
    return (
      job && {
        name: `the queue takes the stalled job of ${job.event.id} back`,
        act: () => queue.giveBackStalled(job),
      }
    );
  }
}

function answer(world: WalkWorld, isHealed: boolean): Happening | undefined {
  for (const process of world.running) {
    const operation = process.pending.find(({ isLost }) => !isLost);
    if (operation === undefined) continue;
    if (operation.kind === 'handler' && operation.event?.isPoison && !isHealed)
      return { name: `${operation.name} fails`, act: () => failHandler(process, operation) };
    return answerTo(process, operation);
  }
  return undefined;
}

function takeJob({ queue, running }: WalkWorld): Happening | undefined {
  if (!queue.hasWaiting) return undefined;
  for (const process of running)
    for (const worker of process.bullWorkers)
      if (worker.canTake())
        return { name: `${process.name}'s worker takes a job`, act: () => process.run(() => worker.take()) };
  return undefined;
}

function send(world: WalkWorld): Happening | undefined {
  for (const event of world.events) {
    const dueAt = dueAtOf(world, event);
    const process = world.running.find(({ closingSince }) => closingSince === undefined);
    if (dueAt === undefined || dueAt > clock.now || process === undefined) continue;
    return {
      name: `the service sends ${event.id} to ${process.name}`,
      act: () => deliver(event, process, true),
    };
  }
  return undefined;
}

/** Time passes while there is something to wait for; a failed job waits for the next sweep. */
function pass(world: WalkWorld): Happening | undefined {
  const at = nextMoment(world);
  if (Number.isFinite(at)) return { name: 'time passes', act: () => passTo(world, at) };
  const { configuration, queue } = world;
  const isSwept =
    configuration.hasDeadLetters && [...queue.jobs.values()].some(({ state }) => state === 'failed');
  return isSwept ? { name: 'time passes', act: () => passTo(world, clock.now + 60_000) } : undefined;
}
