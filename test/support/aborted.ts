import { once } from 'node:events';

/** Resolves with the reason once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
}
