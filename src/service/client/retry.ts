import { setTimeout as delay } from 'node:timers/promises';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import { ServiceError } from './service-error.ts';

/** The most tries of a request that is safe to repeat. */
const MAX_TRIES = 4;

/** The longest first pause. Each further pause is twice as long. */
const FIRST_PAUSE_MS = 250;

/** If `Retry-After` asks for a longer pause, the call fails instead. */
const MAX_RETRY_AFTER_MS = 30_000;

/** The pause after so many tries, in milliseconds, or undefined if the request must not be tried again. */
export function pauseAfter(error: unknown, tries: number): number | undefined {
  if (tries >= MAX_TRIES || !isInstance(error, ServiceError) || !mayPass(error)) return undefined;
  const { retryAfterMs = 0 } = error;
  if (retryAfterMs > MAX_RETRY_AFTER_MS) return undefined;
  // Half of the pause is random, so that clients that failed together do not come back together.
  const pauseMs = FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
  return Math.max(pauseMs, retryAfterMs);
}

function mayPass({ code, status = 0 }: ServiceError): boolean {
  if (code === 'service_unreachable' || code === 'service_timeout') return true;
  return code === 'service_refused' && (status === 429 || status >= 500);
}

/**
 * Reads seconds or a date (RFC 9110, section 10.2.3) as milliseconds from now; undefined for anything else.
 */
export function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Waits; rejects with the signal's reason as soon as it aborts. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, signal && { signal });
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown;
  }
}
