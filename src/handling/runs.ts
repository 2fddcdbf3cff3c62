import { IdTable } from '../dedupe/id-table.ts';
import { AbortedError, UnavailableError } from '../errors.ts';
import type { Activity } from '../timing/activity.ts';
import type { Job, RunServices } from './job.ts';
import { Run } from './run.ts';

/** Makes sure that this process runs an event once at a time: a twin joins the run that is under way. */
export class Dedupe {
  readonly #services: RunServices;
  readonly #activity: Activity;
  #closed = false;
  readonly #ids = new IdTable();
  /** Those under way, at the positions of their ids. */
  readonly #runs: (Run | undefined)[] = [undefined];
  readonly #onEnd = ({ id }: Run): void => {
    const position = this.#ids.find(id);
    this.#runs[position] = undefined;
    this.#ids.remove(position);
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
    return this.#runs[this.#ids.find(id)];
  }

  /** Starts a run of an event that has none. */
  start(job: Job): Run {
    if (this.#closed) throw new UnavailableError('closing', 'the receiver has closed');
    this.#activity.begin();
    const run = new Run(job, this.#services, this.#onEnd);
    this.#runs[this.#ids.add(job.id)] = run;
    void run.start();
    return run;
  }

  /** Aborts what is running; resolves with the ids whose handlers had not ended, once the store knows that they are free. */
  async abandon(): Promise<string[]> {
    this.#closed = true;
    const open = this.#runs.filter((run) => run !== undefined);
    const abandoned = open.filter((run) => run.isRunning);
    const reason = new AbortedError('run_closed', 'the receiver closed before the handlers had ended');
    for (const run of open) run.abort(reason);
    await Promise.all(open.map((run) => run.answer.settled()));
    return abandoned.map(({ id }) => id);
  }
}
