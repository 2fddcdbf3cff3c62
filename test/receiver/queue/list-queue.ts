import type { Queue, QueueAddOptions, QueuedJob } from 'posthorn';

/** A queue that keeps its jobs in a list, each event once; it can be away. */
export class ListQueue implements Queue {
  readonly jobs: QueuedJob[] = [];
  /** What `add` does instead of adding. */
  instead: ((job: QueuedJob, options?: QueueAddOptions) => Promise<unknown>) | undefined;
  /** What `mustWait` says. */
  isAway = false;
  /** How often `add` was called. */
  calls = 0;

  readonly add = async (job: QueuedJob, options?: QueueAddOptions): Promise<void> => {
    this.calls += 1;
    if (this.instead !== undefined) {
      await this.instead(job, options);
      return;
    }
    if (!this.jobs.some(({ id }) => id === job.id)) this.jobs.push(job);
  };

  readonly mustWait = (): boolean => this.isAway;

  readonly close = async (): Promise<void> => {};

  /** Takes the next job out, as JSON would carry it to another process. */
  take(): unknown {
    return JSON.parse(JSON.stringify(this.jobs.shift()));
  }
}
