import { clearTimeout, performance, setTimeout } from '../../receiver/timing/process-clock.ts';

/** The worker, which takes ordinary jobs and suspects. */
interface JobSource {
  /** Takes no further jobs. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** The number of suspects that run as a group, or the way in which the job goes back into the queue. */
export type Admission = number | 'front' | 'later';

/** A suspect (a job that may kill its worker) that has asked to run. */
interface Suspect {
  /** Resolves when the group may run, or the job has to go back. */
  readonly admission: Promise<Admission>;
  /** Must be called when the job has ended or stops waiting. */
  readonly leave: () => void;
}

interface WaitingSuspect extends Suspect {
  readonly limit: number;
  readonly admit: (admission: Admission) => void;
}

/** The time in which the worker runs jobs of one kind. */
interface Turn {
  readonly of: 'ordinary' | 'suspects';
  readonly startedAt: number;
  /** When the jobs of the other kind get the worker, if they wait for it and no group runs. */
  readonly endsAt: number;
}

/** After this time, BullMQ has handed out all jobs that it took together. */
const SETTLE_MS = 100;
/** The time for which the first turn of the suspects waits for running ordinary jobs. */
const FIRST_DRAIN_MS = 5_000;

/**
 * Keeps suspects and ordinary jobs of a worker apart in time: if a job kills its worker, only suspects may be
 * running, and a suspect must be able to run alone. They take turns:
 *
 * - In a turn of the suspects, no ordinary job begins. When the running ones have ended, a group of suspects
 *   runs. Then ordinary jobs begin again, for as long as they had to wait.
 * - If the ordinary jobs do not end in time, they get the worker back, and the next turn waits twice as long.
 *   So one long job does not keep a worker idle, and suspects do not starve.
 * - A turn of ordinary jobs ends early if there are none.
 */
export class SuspectScheduler {
  readonly #source: PausableSource;
  readonly #mostWaiting: number;
  /** The number of ordinary jobs that run. */
  #ordinary = 0;
  readonly #group = new Set<WaitingSuspect>();
  readonly #waiting = new Set<WaitingSuspect>();
  #turn: Turn = { of: 'ordinary', startedAt: 0, endsAt: 0 };
  /** The time for which the next turn of the suspects waits for running ordinary jobs. */
  #drainMs = FIRST_DRAIN_MS;
  /** When BullMQ has handed out all jobs that it took together, and a group may start. */
  #quietAt = 0;
  /** Calls `#schedule` again. */
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(source: JobSource, concurrency: number) {
    this.#source = new PausableSource(source);
    // The rest of the concurrency is left for ordinary jobs in their turn.
    this.#mostWaiting = Math.max(1, Math.floor(concurrency / 2));
  }

  /** Returns true if an ordinary job may begin; then `leave` must be called at its end. */
  tryEnter(): boolean {
    if (this.#turn.of === 'suspects') {
      this.#source.pause();
      return false;
    }
    this.#ordinary += 1;
    return true;
  }

  leave(): void {
    this.#ordinary -= 1;
    if (this.#ordinary > 0 || this.#waiting.size === 0) return;
    if (this.#turn.of === 'ordinary') this.#quietAt = performance.now() + SETTLE_MS;
    this.#schedule();
  }

  /** Asks to run in a group of at most `limit` suspects. */
  enterGroup(limit: number): Suspect {
    let admit: WaitingSuspect['admit'] = () => {};
    const admission = new Promise<Admission>((resolve) => (admit = resolve));
    const suspect = { limit, admission, admit, leave: () => this.#leaveGroup(suspect) };
    if (this.#isClosed) admit('front');
    else if (this.#waiting.size < this.#mostWaiting) this.#wait(suspect);
    else admit(this.#refuse());
    return suspect;
  }

  /** Sends waiting suspects back into the queue. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { admit } of this.#waiting) admit('front');
    this.#waiting.clear();
  }

  #wait(suspect: WaitingSuspect): void {
    this.#waiting.add(suspect);
    this.#quietAt = performance.now() + SETTLE_MS;
    this.#schedule();
  }

  /** In a turn of ordinary jobs, a suspect at the front of the queue would come back at once. */
  #refuse(): 'front' | 'later' {
    if (this.#turn.of === 'ordinary') return 'later';
    this.#source.pause();
    return 'front';
  }

  #leaveGroup(suspect: WaitingSuspect): void {
    if (this.#group.delete(suspect) && this.#group.size === 0) {
      this.#drainMs = FIRST_DRAIN_MS;
      this.#endTurn(performance.now());
    }
    this.#waiting.delete(suspect);
    this.#schedule();
  }

  /** Starts a group, or begins or ends a turn, if it is time for that. Otherwise looks again later. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#group.size > 0 || this.#isClosed) return;
    const now = performance.now();
    if (this.#waiting.size === 0) {
      if (this.#turn.of === 'suspects') this.#endTurn(now);
      return;
    }
    if (this.#ordinary === 0 && now >= this.#quietAt) {
      this.#startGroup(now);
      return;
    }
    if (now >= this.#turn.endsAt) this.#changeTurns(now);
    const { endsAt } = this.#turn;
    const nextAt = this.#ordinary === 0 ? Math.min(this.#quietAt, endsAt) : endsAt;
    this.#timer = setTimeout(() => this.#schedule(), nextAt - now);
  }

  #changeTurns(now: number): void {
    if (this.#turn.of === 'ordinary') {
      this.#beginTurn(now);
      return;
    }
    this.#drainMs *= 2;
    this.#endTurn(now);
  }

  /** Begins a turn of the suspects. */
  #beginTurn(now: number): void {
    this.#turn = { of: 'suspects', startedAt: now, endsAt: now + this.#drainMs };
  }

  /** Ends a turn of the suspects: ordinary jobs have the worker for as long as they had to wait. */
  #endTurn(now: number): void {
    const waitedMs = now - this.#turn.startedAt;
    this.#turn = { of: 'ordinary', startedAt: now, endsAt: now + waitedMs };
    this.#quietAt = now + SETTLE_MS;
    this.#source.resume();
  }

  /** Runs the suspects that have waited longest. One with a low limit waits for a group of that size. */
  #startGroup(now: number): void {
    if (this.#turn.of === 'ordinary') this.#beginTurn(now);
    // A job that comes now could not begin.
    this.#source.pause();
    let most = Number.POSITIVE_INFINITY;
    for (const suspect of this.#waiting) {
      const size = this.#group.size + 1;
      if (size > most || size > suspect.limit) continue;
      most = Math.min(most, suspect.limit);
      this.#waiting.delete(suspect);
      this.#group.add(suspect);
    }
    for (const { admit } of this.#group) admit(this.#group.size);
  }
}

/** Pauses a source once, and resumes it only if it is paused. */
class PausableSource implements JobSource {
  readonly #source: JobSource;
  #isPaused = false;

  constructor(source: JobSource) {
    this.#source = source;
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }
}
