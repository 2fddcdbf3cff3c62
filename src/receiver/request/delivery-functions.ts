import { dropPromise, messageOf, typeNameOf } from '../values/foreign-values.ts';
import type { Delivery } from './delivery.ts';

/** Called when a function of a delivery returns a wrong value, or throws. */
type OnMisuse = (name: string, problem: string) => void;

/** Returns true if the sender still waits for the answer. Never throws. */
export function isConnected(delivery: Delivery, onMisuse: OnMisuse): boolean {
  const name = 'isConnected';
  const mustReturn = 'isConnected of a delivery must return true or false';
  try {
    if (delivery.isConnected === undefined) return true;
    const answer: unknown = delivery.isConnected();
    if (typeof answer === 'boolean') return answer;
    dropPromise(answer);
    onMisuse(name, `${mustReturn}, got ${typeNameOf(answer)}; the answer counts as sent`);
  } catch (error) {
    // An error would fail an event that has been handled. All its retries would fail alike, until the service
    // gives up.
    onMisuse(name, `${mustReturn}, but threw: ${messageOf(error)}; the answer counts as sent`);
  }
  return true;
}

/**
 * Asks the platform to keep the process alive until the promise settles. Never throws: an error would fail an
 * event that has been handled or parked.
 */
export function waitUntil(delivery: Delivery, promise: Promise<unknown>, onMisuse: OnMisuse): void {
  const name = 'waitUntil';
  const mustReturn = 'waitUntil of a delivery must return nothing';
  try {
    if (!dropPromise(delivery.waitUntil?.(promise))) return;
    onMisuse(name, `${mustReturn}, got a promise, which is not waited for`);
  } catch (error) {
    onMisuse(name, `${mustReturn}, but threw: ${messageOf(error)}; the platform may stop the handlers`);
  }
}
