import type { Activity } from './activity.ts';
import { AbortedError, UnavailableError } from './errors.ts';
import type { Job, RunServices } from './job.ts';
import { Run } from './run.ts';

/**
 * Holds a run as long as it is under way. A Map keeps what was deleted from it reachable through the tables that it has
 * outgrown, until the garbage collector looks at everything; what is kept so is a holder that is empty by then.
 */
interface Holder {
  run: Run | undefined;
}

/** Makes sure that this process runs an event once at a time: a twin joins the run that is under way. */
export class Dedupe {
  readonly #services: RunServices;
  readonly #activity: Activity;
  #closed = false;
  readonly #holders = new Map<string, Holder>();
  readonly #onEnd = (id: string): void => {
    const holder = this.#holders.get(id);
    if (holder !== undefined) holder.run = undefined;
    this.#holders.delete(id);
    this.#activity.end();
  };

  constructor(services: RunServices, activity: Activity) {
    this.#services = services;
    this.#activity = activity;
  }

  /** Whether the event was handled here, though the store may not know it yet. */
  isCompleted(id: string): boolean {
    return this.#services.completions.has(id);
  }

  /** The run of the event that is under way, if there is one. */
  find(id: string): Run | undefined {
    return this.#holders.get(id)?.run;
  }

  /** Starts a run of an event that has none. */
  start(job: Job): Run {
    if (this.#closed) throw new UnavailableError('closing', 'the receiver has closed');
    this.#activity.begin();
    const run = new Run(job, this.#services, this.#onEnd);
    this.#holders.set(job.event.id, { run });
    void run.start();
    return run;
  }

  /** Aborts what is running; resolves with the ids whose handlers had not ended, once the store knows that they are free. */
  async abandon(): Promise<string[]> {
    this.#closed = true;
    const open = [...this.#holders].flatMap(([id, { run }]) => (run === undefined ? [] : [{ id, run }]));
    const abandoned = open.filter(({ run }) => run.isRunning);
    const reason = new AbortedError('run_closed', 'the receiver closed before the handlers had ended');
    for (const { run } of open) run.abort(reason);
    await Promise.all(open.map(({ run }) => run.ending.reached()));
    return abandoned.map(({ id }) => id);
  }
}
