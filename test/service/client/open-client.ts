import type { Client, ClientOptions } from 'posthorn/client';
import { onTestFinished } from 'vitest';
import { replaceClock } from '../../../src/receiver/timing/process-clock.ts';
import {
  inTurn,
  type LiteralService,
  openLiteralService,
  type Reply,
  type Respond,
} from './literal-service.ts';
import { clientOf } from './secrets.ts';

/** A client that tells what its service has been sent. */
export type OpenClient = Client & LiteralService;

/** A client of a service that answers with one reply after the other. Its time is short if one never ends. */
export function openClient(...replies: readonly Reply[]): Promise<OpenClient> {
  const isEndless = replies.some(
    (reply) => reply === 'hang' || (typeof reply === 'object' && reply.end === 'hang'),
  );
  return openClientOf(inTurn(...replies), isEndless ? { timeoutMs: limitInRounds() } : {});
}

/** A client of a service that answers what `respond` says. */
export async function openClientOf(
  respond: Respond,
  options: Partial<ClientOptions> = {},
): Promise<OpenClient> {
  const service = await openLiteralService(respond);
  return { ...service, ...clientOf(service.url, options) };
}

/**
 * A time limit of 300 ms, of which each takes a round of the event loop, until the test is over. So a machine
 * that stands still does not reach it.
 */
function limitInRounds(): number {
  const limitMs = 300;
  const setRounds = (callback: () => void, delayMs: number): NodeJS.Timeout => {
    if (delayMs !== limitMs) return setTimeout(callback, delayMs);
    let leftMs = limitMs;
    const timer = setTimeout(() => {
      leftMs -= 1;
      if (leftMs > 0) timer.refresh();
      else callback();
    }, 1);
    return timer;
  };
  onTestFinished(replaceClock({ setTimeout: setRounds }));
  return limitMs;
}
