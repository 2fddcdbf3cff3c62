import type { Foreseen, Prospect } from '../../receiver/handling/ways-in/foresee.ts';
import { shorten } from '../../receiver/values/foreign-values.ts';
import type { FileEvent, FileLine } from './event-file.ts';

/** The number of events with each prospect. */
export type ProspectCounts = Record<Prospect, number>;

const noCounts = (): ProspectCounts => ({
  wouldRun: 0,
  known: 0,
  parked: 0,
  running: 0,
  ignored: 0,
  tooOld: 0,
  unreadable: 0,
  uncertain: 0,
});

/** The types that are counted one by one. A file may have any number of them, of any length. */
const MOST_TYPES = 1_000;
const LONGEST_TYPE = 200;

/** The name under which the events of all further types are counted. */
export const FURTHER_TYPES = '(further types)';

/** The types of other events that are remembered: enough to name one that a misspelt type is near to. */
const MOST_OTHER_TYPES = 100;

/** The events of a file, counted by what accepting them would do. */
export class Forecast {
  readonly counts: ProspectCounts = noCounts();
  readonly byType: Map<string, ProspectCounts> = new Map();
  /** Types of events that `--type` does not select, and the number of these events. */
  readonly otherTypes: Set<string> = new Set();
  others = 0;
  /** The reason why the first event that is too old is refused. */
  tooOldReason: string | undefined;
  lines = 0;
  /** The number of lines that are not JSON objects. */
  notObjects = 0;
  /** The number of events that the receiver was asked about. */
  events = 0;
  #lastMs: number | undefined;
  #descents = 0;
  #ascents = 0;

  /** Adds a line. `foreseen` is given for an event. Returns the reason if the line is unreadable. */
  add(line: FileLine, foreseen: Foreseen | undefined): string | undefined {
    this.lines += 1;
    if (line.kind === 'unreadable') {
      if (!line.mayBeObject) this.notObjects += 1;
      this.counts.unreadable += 1;
      return line.problem;
    }
    if (line.kind === 'event') return foreseen && this.#addEvent(line, foreseen);
    this.others += 1;
    if (this.otherTypes.size < MOST_OTHER_TYPES) this.otherTypes.add(shorten(line.type, LONGEST_TYPE));
    return undefined;
  }

  /** The number of events that are to be accepted. Those that run elsewhere may have to be taken over. */
  get toAccept(): number {
    const { wouldRun, running, uncertain } = this.counts;
    return wouldRun + running + uncertain;
  }

  /** True if most events were created before the one that precedes them in the file. */
  get isNewestFirst(): boolean {
    return this.#descents > this.#ascents;
  }

  #addEvent({ options }: FileEvent, { prospect, event, error }: Foreseen): string | undefined {
    this.events += 1;
    this.counts[prospect] += 1;
    if (event.type !== undefined) this.#countsOf(event.type)[prospect] += 1;
    this.#compareTime(event.createdAtMs ?? options.createdAtMs);
    if (prospect === 'tooOld') this.tooOldReason ??= error?.message;
    return prospect === 'unreadable' ? (error?.message ?? 'it is refused') : undefined;
  }

  #countsOf(type: string): ProspectCounts {
    const short = shorten(type, LONGEST_TYPE);
    const name = this.byType.has(short) || this.byType.size < MOST_TYPES ? short : FURTHER_TYPES;
    const counts = this.byType.get(name) ?? noCounts();
    this.byType.set(name, counts);
    return counts;
  }

  #compareTime(createdAtMs: number | undefined): void {
    if (createdAtMs === undefined) return;
    if (this.#lastMs !== undefined && createdAtMs < this.#lastMs) this.#descents += 1;
    if (this.#lastMs !== undefined && createdAtMs > this.#lastMs) this.#ascents += 1;
    this.#lastMs = createdAtMs;
  }
}
