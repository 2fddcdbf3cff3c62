import type { Freeze } from '../../stores/kit/key-runs.ts';
import { readNotes } from '../../support/notes.ts';

/** A note of a process. Its time is in milliseconds, of a clock that all processes share. */
export interface StormNote {
  readonly pid: string;
  readonly what: string;
  readonly key: string;
  /** The receiver that notes it. */
  readonly own: string;
  readonly handler: string;
  /** The sender that the event names. */
  readonly sender: string;
  readonly at: number;
}

/** Reads what test/receiver/provider/storm-program.mjs has written. */
export function readStormNotes(log: string): StormNote[] {
  return readNotes(log).map(({ pid, what, id: key, rest }) => {
    const words = rest.split(' ');
    const [own = '', handler = '', sender = ''] = words;
    return { pid, what, key, own, handler, sender, at: Number(words.at(-1)) / 1e6 };
  });
}

/** The words that name a run of a handler. */
export function lineOf(...words: readonly string[]): string {
  return words.join(' ');
}

/**
 * The runs of a handler that began once another one was recorded. A process that was frozen between its claim
 * and the handler may begin it when it wakes.
 */
export function handledAgain(notes: readonly StormNote[], freezes: readonly Freeze[], leaseMs: number) {
  const recordedAt = new Map<string, number>();
  const unexcused: StormNote[] = [];
  let excused = 0;
  for (const note of notes) {
    const { what, key, handler, pid, at } = note;
    const run = lineOf(key, handler);
    const recorded = recordedAt.get(run);
    if (what === 'recorded') recordedAt.set(run, recorded ?? at);
    if (what !== 'begun' || recorded === undefined) continue;
    const isWoken = freezes.some(
      (freeze) => freeze.pid === pid && freeze.from < recorded && at - freeze.to < leaseMs,
    );
    if (isWoken) excused += 1;
    else unexcused.push(note);
  }
  return { excused, unexcused };
}
