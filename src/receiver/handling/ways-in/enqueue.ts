import { checkBegun } from '../../checks/called-functions.ts';
import { enqueueingId } from '../../dedupe/claim-id.ts';
import { UnavailableError } from '../../errors.ts';
import { senderOf } from '../../provider/event-identity.ts';
import type { Queue } from '../../queue/queue.ts';
import { createJob, type QueuedJob } from '../../queue/queued-job.ts';
import type { Settings } from '../../settings.ts';
import { mustWait } from '../../timing/must-wait.ts';
import { withTimeLimit } from '../../timing/time-limit.ts';
import { messageOf } from '../../values/foreign-values.ts';
import type { Route } from '../handlers/route.ts';
import { enqueueOriginOf } from '../run/origin.ts';
import type { RunInput } from '../run/run-input.ts';

export function isQueued({ queued }: Route): boolean {
  return queued;
}

/**
 * Returns the input of a run that runs only the handlers before the answer, and then enqueues the event. In
 * the store it has an id of its own.
 */
export function toEnqueueInput(
  input: RunInput,
  queue: Queue,
  { now, provider }: Pick<Settings, 'now' | 'provider'>,
): RunInput {
  const { identity, rawBody, headers, origin, receivedAt, deadline, routes } = input;
  const { key, type } = identity;
  const handlers = routes.filter(isQueued).flatMap(({ name }) => name ?? []);
  return {
    ...input,
    claimId: enqueueingId(key),
    origin: enqueueOriginOf(origin),
    routes: routes.filter((route) => !isQueued(route)),
    enqueue: ({ countBody, ...progress }) => {
      const sender = senderOf(identity, provider);
      const facts = { rawBody, headers, receivedAt, queuedAt: now(), handlers, ...progress };
      return addInTime(
        queue,
        createJob({ id: key, ...sender, type, ...facts }),
        deadline.enqueueMs,
        countBody,
      );
    },
  };
}

/**
 * Adds a job. Resolves with an error if the queue refuses the job, or takes longer than the limit: the
 * clients of most queues wait endlessly for a lost connection. A job that arrives late does no harm, because
 * workers claim its event. `countBody` is called if the job must wait for a connection.
 */
async function addInTime(
  queue: Queue,
  job: QueuedJob,
  limitMs: number,
  countBody: () => boolean,
): Promise<UnavailableError | undefined> {
  try {
    const waitMs = !mustWait(queue) || countBody() ? limitMs : 0;
    const added = Promise.resolve(queue.add(job, { waitMs }));
    checkBegun(await withTimeLimit(added, limitMs, () => new Error(`no answer in ${limitMs} ms`)), 'add()');
    return undefined;
  } catch (cause) {
    const message = `the queue did not take the event: ${messageOf(cause)}`;
    return new UnavailableError('queue_unavailable', message, { cause });
  }
}
