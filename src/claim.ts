import type { ClaimRequest, ClaimResult, Store } from './stores/store.ts';

/** Between two questions to the store about a twin; the second half is left to chance, so that processes spread out. */
const POLL_MS = 400;

export interface ClaimWait {
  /** Another process is handling the event: called once, before the first wait. */
  readonly onBusy: () => void;
  /** Asked before each further question: whether a delivery still waits for the answer. */
  readonly isAwaited: () => boolean;
  /** Ends the waiting at once. */
  readonly interrupted: Promise<unknown>;
}

/**
 * Claims an event. While another process handles it, asks again until it has completed, its lease has ended, or nobody
 * waits any more (`busy`). Rejects only if the first question fails: later on, the twin is known to be running.
 */
export async function claimEvent(store: Store, request: ClaimRequest, wait: ClaimWait): Promise<ClaimResult> {
  let result = await store.claim(request);
  if (result.state === 'busy') wait.onBusy();
  while (result.state === 'busy') {
    await pause(Math.min(POLL_MS, result.msLeft + 1) * (0.5 + Math.random() / 2), wait.interrupted);
    if (!wait.isAwaited()) return result;
    const busy = result;
    result = await store.claim(request).catch(() => busy);
  }
  return result;
}

async function pause(ms: number, interrupted: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, interrupted]);
  clearTimeout(timer);
}
