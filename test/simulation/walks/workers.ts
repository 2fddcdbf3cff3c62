import type { Action, ActionSource } from './action.ts';

/** Workers take jobs, and the queue gives the jobs of dead and frozen workers to others. */
export const workers: ActionSource = ({ queue, running }) => {
  const takes: Action[] = queue.hasWaiting
    ? running.flatMap((process) =>
        process.bullWorkers
          .filter((worker) => worker.canTake())
          .map((worker) => ({
            kind: 'job',
            name: `${process.name}'s worker takes a job`,
            act: () => process.run(() => worker.take()),
          })),
      )
    : [];
  const stalled: Action[] = queue.stalled.map((job) => ({
    kind: 'job',
    name: `the queue takes the stalled job of ${job.event.id} back`,
    act: () => queue.giveBackStalled(job),
  }));
  return [...takes, ...stalled];
};
