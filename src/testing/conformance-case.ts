import { InternalError } from '../receiver/errors.ts';

/** One promise of an interface; `run` rejects if an implementation breaks it. */
export interface ConformanceCase {
  /** Short, and the same in every version: for a list of the cases that an implementation cannot pass. */
  readonly id: string;
  /** The promise, as a title for a test. */
  readonly name: string;
  /** Resolves if the promise is kept. */
  readonly run: () => Promise<void>;
}

/** A case before it has its id. */
export type CaseWithoutId = Omit<ConformanceCase, 'id'>;

/** Gives each case its id; `names` has the name of each case by its id. */
export function withIds(
  cases: readonly CaseWithoutId[],
  names: Readonly<Record<string, string>>,
): readonly ConformanceCase[] {
  const ids = new Map(Object.entries(names).map(([id, name]) => [name, id]));
  return cases.map((each) => {
    const id = ids.get(each.name);
    if (id === undefined) throw new InternalError('internal_error', `the case "${each.name}" has no id`);
    return { id, ...each };
  });
}
