import type { JobNotes } from './job-notes.ts';

/** The notes that say since when a job could not run, by the code of its reports. */
const SINCE = { handler_missing: 'handlerMissingSince', key_busy: 'keyBusySince' } as const;

type Code = keyof typeof SINCE;

/** The length of the hour: longer than a deploy, and longer than a key should be busy. */
const HOUR_MS = 3_600_000;

/**
 * The hour for which a job that cannot run is put back without counting an attempt: its worker lacks a
 * handler, or a handler's key is busy. There is one for each of these codes, and it begins with the first
 * such report.
 */
export class UncountedHour {
  readonly #notes: JobNotes;
  readonly #now: number;

  /** `notes` are those of the job at the beginning of its run. */
  constructor(notes: JobNotes, now: number) {
    this.#notes = notes;
    this.#now = now;
  }

  /** Returns true if the hour is over, so that an attempt counts. */
  isOver(code: Code): boolean {
    return this.#now - this.#since(code) >= HOUR_MS;
  }

  /** The part of the hour that has passed; undefined for another code, and once the hour is over. */
  passedMs(code: string | undefined): number | undefined {
    return isCode(code) && !this.isOver(code) ? this.#now - this.#since(code) : undefined;
  }

  /** Returns the notes that the job should have after a run whose report has this code. */
  notesAfter(code: string | undefined, notes: JobNotes): JobNotes {
    // After another report, the hour of a busy key begins again, because the key was free. That of a missing
    // handler does not, because a deploy is one period of time.
    const kept = notes.keyBusySince === undefined ? notes : { ...notes, keyBusySince: undefined };
    return isCode(code) ? { ...kept, [SINCE[code]]: this.#since(code) } : kept;
  }

  /** The clocks of workers differ, so the earliest time counts. */
  #since(code: Code): number {
    return Math.min(this.#notes[SINCE[code]] ?? this.#now, this.#now);
  }
}

function isCode(code: string | undefined): code is Code {
  return code !== undefined && Object.hasOwn(SINCE, code);
}
