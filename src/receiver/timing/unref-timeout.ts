import { setTimeout } from './process-clock.ts';

/**
 * Starts a timer that does not keep the process alive. On Cloudflare Workers a timer is a number, and no
 * timer outlives its request.
 */
export function setUnrefTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  const timeout = setTimeout(callback, ms);
  timeout.unref?.();
  return timeout;
}
