import type { Queue, QueuedJob } from 'posthorn';

/** A queue that keeps its jobs in a list, each event once; it can be away. */
export class ListQueue implements Queue {
  readonly jobs: QueuedJob[] = [];
  /** What `add` does instead of adding. */
  instead: ((job: QueuedJob) => Promise<unknown>) | undefined;
  /** How often `add` was called. */
  calls = 0;

  readonly add = async (job: QueuedJob): Promise<void> => {
    this.calls += 1;
    if (this.instead !== undefined) {
      await this.instead(job);
      return;
    }
    if (!this.jobs.some(({ id }) => id === job.id)) this.jobs.push(job);
  };

  readonly close = async (): Promise<void> => {};

  /** Takes the next job out, as JSON would carry it to another process. */
  take(): unknown {
    return JSON.parse(JSON.stringify(this.jobs.shift()));
  }
}
