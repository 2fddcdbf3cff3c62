import type { LeaseRequest, Store } from './stores/store.ts';

/** A claim that is being kept. */
export interface Lease {
  /** Ends the renewal. */
  readonly stop: () => void;
}

/**
 * Renews a claim every third of its lease. `onEnd` is told, once, that another token has the id (`lost`) or that the
 * event was completed. A store that fails or is late ends nothing: the lease may well hold, and the next turn tells.
 */
export function keepLease(
  store: Store,
  request: LeaseRequest,
  onEnd: (state: 'lost' | 'completed') => void,
): Lease {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const renew = async (): Promise<void> => {
    const result = await store.renew(request).catch(() => undefined);
    if (stopped) return;
    if (result === undefined || result.state === 'held') schedule();
    else onEnd(result.state);
  };
  const schedule = (): void => {
    timer = setTimeout(() => void renew(), request.leaseMs / 3);
  };
  schedule();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
