/** A state that was reached, and how. */
interface Reached<State> {
  readonly state: State;
  readonly from: Reached<State> | undefined;
  /** The action that led here. */
  readonly action: string;
}

/** A successor of a state. */
export interface Step<State> {
  readonly action: string;
  readonly state: State;
}

/** A promise that a state breaks, and the shortest way to that state. */
export interface Violation {
  readonly broken: string;
  readonly trace: readonly string[];
}

export interface Exploration {
  readonly states: number;
  readonly steps: number;
  readonly violation: Violation | undefined;
}

/**
 * Visits every state that can be reached, breadth first, so that the way to the first violation is a shortest
 * one. States with the same text are the same state.
 */
export function explore<State, Next extends Step<State>>(
  first: State,
  successors: (state: State) => readonly Next[],
  brokenBy: (state: State, next: readonly Next[]) => string | undefined,
): Exploration {
  const seen = new Set([JSON.stringify(first)]);
  let level: Reached<State>[] = [{ state: first, from: undefined, action: '' }];
  let steps = 0;
  while (level.length > 0) {
    const nextLevel: Reached<State>[] = [];
    for (const reached of level) {
      const next = successors(reached.state);
      const broken = brokenBy(reached.state, next);
      if (broken !== undefined)
        return { states: seen.size, steps, violation: { broken, trace: traceOf(reached) } };
      steps += next.length;
      for (const { action, state } of next) {
        const text = JSON.stringify(state);
        if (seen.has(text)) continue;
        seen.add(text);
        nextLevel.push({ state, from: reached, action });
      }
    }
    level = nextLevel;
  }
  return { states: seen.size, steps, violation: undefined };
}

function traceOf<State>(reached: Reached<State>): string[] {
  return reached.from === undefined ? [] : [...traceOf(reached.from), reached.action];
}
