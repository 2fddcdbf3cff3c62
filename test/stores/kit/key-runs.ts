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
  /** The length of the freeze that explains it, if one does. */
  readonly frozenMs?: number;
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
      const freeze = long.find((candidate) => explains(candidate, run, later));
      const overlap = { key, events: [run.event, later.event], ms } as const;
      if (freeze === undefined) overlaps.push(overlap);
      else excused.push({ ...overlap, frozenMs: Math.round(freeze.to - freeze.from) });
    }
  }
  return { overlaps, excused };
}

/**
 * Either the earlier run was frozen, and the later one began meanwhile or afterwards; or the later one was,
 * between the last look at its lease and its first line.
 */
function explains({ pid, from, to }: Freeze, earlier: Run, later: Run): boolean {
  if (pid === earlier.pid && to > earlier.begin && from < later.begin) return true;
  return pid === later.pid && to <= later.begin && later.begin - to < WAKING_MS;
}
