import type { ForeseenRerun, RerunProspect } from '../../receiver/handling/ways-in/foresee-rerun.ts';
import type { JournalEntry } from '../../receiver/journal/journal.ts';

/** The end that a rerun of an entry would have. Of what is refused, two reasons have their own word. */
export type RerunForeseen = RerunProspect | 'noBody' | 'unfinished';

const REASONS: ReadonlyMap<string | undefined, 'noBody' | 'unfinished'> = new Map([
  ['body_missing', 'noBody'],
  ['handler_unfinished', 'unfinished'],
]);

/** The refused entries that are named for people; the others are only counted. */
const MOST_NAMED = 10;

/** Returns the word for a refusal with this code. */
export function refusalOf(code: string | undefined): 'noBody' | 'unfinished' | 'refused' {
  return REASONS.get(code) ?? 'refused';
}

/** The entries of a selection, counted by what a rerun of their handler would do. */
export class RerunForecast {
  readonly counts: Record<RerunForeseen, number> = {
    wouldRun: 0,
    done: 0,
    running: 0,
    noBody: 0,
    unfinished: 0,
    refused: 0,
  };
  /** Why the first entry of each kind of refusal is refused. */
  readonly reasons: Map<RerunForeseen, string> = new Map();
  /** The first entries that are refused for other reasons, with these. */
  readonly named: (readonly [id: string, reason: string])[] = [];
  /** The number of entries. */
  events = 0;

  /** Returns the end that was counted. */
  add({ id }: JournalEntry, { prospect, error }: ForeseenRerun): RerunForeseen {
    const foreseen = prospect === 'refused' ? refusalOf(error?.code) : prospect;
    this.events += 1;
    this.counts[foreseen] += 1;
    if (error === undefined) return foreseen;
    if (!this.reasons.has(foreseen)) this.reasons.set(foreseen, error.message);
    if (foreseen === 'refused' && this.named.length < MOST_NAMED) this.named.push([id, error.message]);
    return foreseen;
  }

  /** The number of events that are to run. Those that run elsewhere may have to be taken over. */
  get toRun(): number {
    return this.counts.wouldRun + this.counts.running;
  }
}
