import { setTimeout as sleep } from 'node:timers/promises';

/** For the senders and the faults of storms, which come at any moment. No other test waits for a time. */
export async function randomPause(mostMs: number): Promise<void> {
  await sleep(Math.random() * mostMs);
}
