/** One run of a handler; times are in milliseconds of a clock that all processes share. */
export interface Run {
  readonly pid: string;
  readonly key: string;
  readonly event: string;
  readonly begin: number;
  /** The end of the handler or of its process; infinite if there was none. */
  readonly end: number;
  /** False if its process was killed before. */
  readonly hasEnded: boolean;
}

/** The time for which a process was frozen. */
export interface Freeze {
  readonly pid: string;
  readonly from: number;
  readonly to: number;
}

/** Two runs of one key at the same time. */
export interface Overlap {
  readonly key: string;
  readonly events: readonly [string, string];
  readonly ms: number;
  /** The freeze that explains it, if one does, and the event of the run that was frozen. */
  readonly excuse?: { readonly freeze: Freeze; readonly event: string };
}

/** A process that was thawed may take so long until it runs. */
const WAKING_MS = 100;

/** Reads the log of test/stores/kit/key-storm-program.mjs; `killedAt` is by process. */
export function readRuns(log: string, killedAt: ReadonlyMap<string, number>): Run[] {
  const begun = new Map<string, Run>();
  for (const line of log.split('\n').slice(0, -1)) {
    const [pid = '', nanoseconds, what, number, key = '', event = ''] = line.split(' ');
    const name = `${pid} ${number}`;
    const at = Number(nanoseconds) / 1e6;
    const run = begun.get(name);
    if (what === 'begin') {
      const end = killedAt.get(pid) ?? Number.POSITIVE_INFINITY;
      begun.set(name, { pid, key, event, begin: at, end, hasEnded: false });
    } else if (run !== undefined) begun.set(name, { ...run, end: at, hasEnded: true });
  }
  return [...begun.values()];
}

/**
 * The overlaps of runs of one key, and those that a freeze excuses: a process that had the key was frozen for
 * longer than `leftMs`, what was left of its lease.
 */
export function overlapsIn(
  runs: readonly Run[],
  freezes: readonly Freeze[],
  leftMs: number,
): { readonly overlaps: readonly Overlap[]; readonly excused: readonly Overlap[] } {
  const long = freezes.filter(({ from, to }) => to - from > leftMs);
  const overlaps: Overlap[] = [];
  const excused: Overlap[] = [];
  const ordered = runs.toSorted((one, other) => one.begin - other.begin);
  for (const [index, later] of ordered.entries()) {
    const earlier = ordered.slice(0, index).filter(({ key, end }) => key === later.key && end > later.begin);
    for (const run of earlier) {
      const { key } = later;
      const ms = Math.min(run.end, later.end) - later.begin;
      const excuse = long.map((freeze) => excuseOf(freeze, run, later, leftMs)).find(Boolean);
      const overlap = { key, events: [run.event, later.event], ms } as const;
      if (excuse === undefined) overlaps.push(overlap);
      else excused.push({ ...overlap, excuse });
    }
  }
  return { overlaps, excused };
}

/** The most runs that one freeze has interrupted while they had a key, so that another run got it. */
export function mostRunsFrozen(excused: readonly Overlap[]): number {
  const frozen = new Map<Freeze, Set<string>>();
  for (const { excuse } of excused)
    if (excuse !== undefined)
      frozen.set(excuse.freeze, (frozen.get(excuse.freeze) ?? new Set()).add(excuse.event));
  return Math.max(0, ...Array.from(frozen.values(), (events) => events.size));
}

/**
 * Either the earlier run was frozen, and the later one began once its lease could have ended; or one of them
 * was, between the last look at its lease and its first line.
 */
function excuseOf(freeze: Freeze, earlier: Run, later: Run, leftMs: number): Overlap['excuse'] {
  const { pid, from, to } = freeze;
  if (pid === earlier.pid && to > earlier.begin && later.begin > from + leftMs)
    return { freeze, event: earlier.event };
  const woken = [earlier, later].find((run) => run.pid === pid && isWoken(run, freeze));
  return woken && { freeze, event: woken.event };
}

function isWoken({ begin }: Run, { to }: Freeze): boolean {
  return begin >= to && begin - to < WAKING_MS;
}
