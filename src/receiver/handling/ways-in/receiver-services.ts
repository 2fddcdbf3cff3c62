import { LetterOperations } from '../../dead-letters/letter-operations.ts';
import { Completions } from '../../dedupe/retries.ts';
import { TimeLimitedStore } from '../../dedupe/time-limited.ts';
import type { Activity } from '../../timing/activity.ts';
import { letterTimeMs } from '../../timing/deadline.ts';
import type { Router } from '../handlers/router.ts';
import { ConcurrencyKeys } from '../keys/concurrency-keys.ts';
import { ConcurrencyLimit } from '../keys/concurrency-limit.ts';
import type { RunServices } from '../run/run-services.ts';
import { RunsInFlight } from '../run/runs-in-flight.ts';

/** The services that the deliveries, replays, jobs, accepts and reruns of one receiver share. */
export interface ReceiverServices extends RunServices {
  readonly router: Router;
  readonly runs: RunsInFlight;
}

/** The parts of the services of one receiver. */
interface ServiceParts
  extends Pick<ReceiverServices, 'settings' | 'router' | 'middlewares' | 'bodyMemory' | 'pendingWarnings'> {
  readonly activity: Activity;
}

/** Creates the services of one receiver. */
export function createServices({ activity, ...given }: ServiceParts): ReceiverServices {
  const { bodyMemory, settings } = given;
  const { deadLetters, deadlineMs, maxRunning, now, provider } = settings;
  // If handlers may run without the store, they do not wait for a connection.
  const mayWait = settings.onStoreFailure === 'reject';
  const store = new TimeLimitedStore(settings.store, { mayWait });
  const limitMs = letterTimeMs(deadlineMs);
  const completions = new Completions(store, activity);
  const services = {
    ...given,
    store,
    labelsOf: (type: string) => given.router.labelsOf(type),
    letters:
      deadLetters && new LetterOperations(deadLetters, { limitMs, now, mayWait, bodyMemory, provider }),
    completions,
    keys: new ConcurrencyKeys({ settings, store, completions, bodyMemory }),
    permits: Number.isFinite(maxRunning) ? new ConcurrencyLimit(maxRunning, bodyMemory) : undefined,
  };
  return { ...services, runs: new RunsInFlight(services, activity) };
}
