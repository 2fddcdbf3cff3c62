import { isAtRest } from './action.ts';
import { clock, MONOTONIC_START } from './clock.ts';
import { chosen } from './explore.ts';
import type { Scope } from './scope.ts';
import { World } from './world.ts';

/** The names of the actions of a way. */
export async function namesOf(scope: Scope, choices: readonly number[]): Promise<string[]> {
  const world = new World(scope);
  const names: string[] = [];
  for (const choice of choices) {
    const action = chosen(world, choice);
    names.push(action.name);
    await world.perform(action);
  }
  return names;
}

/** Leaves out what is not needed to break the promise. */
export async function shrink(scope: Scope, names: readonly string[], promise: string): Promise<string[]> {
  let shortest = [...names];
  for (let index = shortest.length - 1; index >= 0; index -= 1) {
    const shorter = shortest.toSpliced(index, 1);
    if ((await brokenBy(scope, shorter)) === promise) shortest = shorter;
  }
  return shortest;
}

/** The promise that is broken at the end of a way; undefined also if the way cannot be gone. */
async function brokenBy(scope: Scope, names: readonly string[]): Promise<string | undefined> {
  const world = new World(scope);
  for (const name of names) {
    const action = world.actions().find((one) => one.name === name);
    if (action === undefined) return undefined;
    await world.perform(action);
  }
  if (isAtRest(world.actions())) world.promises.checkAtRest();
  return world.promises.broken;
}

/** Tells a way: one line for each action, with the time. */
export async function tell(scope: Scope, names: readonly string[]): Promise<string[]> {
  const world = new World(scope);
  const story: string[] = [];
  for (const name of names) {
    const action = world.actions().find((one) => one.name === name);
    if (action === undefined) throw new Error(`this cannot happen: ${name}`);
    world.lastEnded = undefined;
    await world.perform(action);
    story.push(`${clock.now - MONOTONIC_START} ms: ${name}${answerOf(world)}`);
  }
  return story;
}

/** The answer to the operation that has just ended, with the name of its claim. */
function answerOf({ lastEnded, tokens }: World): string {
  if (lastEnded === undefined || lastEnded.kind === 'handlers') return '';
  const { token, answer, request } = lastEnded;
  const claim = token === undefined ? '' : ` (claim ${[...tokens.keys()].indexOf(token) + 1})`;
  const told = textOf(answer, 'state') ?? textOf(answer, 'reason') ?? textOf(request, 'reason');
  return `${claim}${told === undefined ? '' : `: ${told}`}`;
}

function textOf(value: unknown, name: string): string | undefined {
  const member = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof member === 'string' ? member : undefined;
}
