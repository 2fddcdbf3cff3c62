import type { AnyEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import { type EndpointOptions, openEndpoint } from '../../support/open-endpoint.ts';
import { randomPause } from '../../support/random-pause.ts';
import { until } from '../../support/until.ts';

const EVENTS = 300;
const SENDERS = 10;
const RETRY_PAUSE_MS = 20;
const RESOURCES = 5;

/** What happens to the store during a storm. */
export interface Weather {
  /** The options of each receiver; all of them share a store. */
  readonly receivers: readonly EndpointOptions[];
  /** Called before each event, with the number of those that are left. */
  readonly onProgress?: (left: number) => void;
  /** Ends the faults. */
  readonly calm: () => void;
}

/**
 * Sends 300 events to several receivers while their store is faulty, each until it is acknowledged, some to
 * all at once and some again. Nothing may be lost, and nothing that was acknowledged may be handled again.
 * The handler has one event of a resource at a time.
 */
export async function weatherStorm({
  receivers,
  onProgress,
  calm,
}: Weather): Promise<Record<string, number>> {
  const handled = new Set<string>();
  const handledAgain: string[] = [];
  const acknowledged = new Set<string>();
  const counts = { answers: 0, refused: 0 };
  const running = new Set<string>();
  const overlaps: string[] = [];

  const handle = async ({ id, data }: AnyEvent): Promise<void> => {
    const key = String(data.id);
    if (running.has(key)) overlaps.push(key);
    running.add(key);
    await randomPause(10);
    running.delete(key);
    if (Math.random() < 0.1) throw new Error('this attempt fails');
    handled.add(id);
  };
  const keyed = { name: 'handle', concurrencyKey: ({ data }: AnyEvent) => String(data.id) };

  const endpoints = await Promise.all(
    receivers.map((options) =>
      openEndpoint({ leaseMs: 4_000, maxEventAgeMs: Number.POSITIVE_INFINITY, ...options }, (receiver) =>
        receiver.on('*', handle, keyed),
      ),
    ),
  );

  const sendUntilAcknowledged = (event: ReturnType<typeof createEvent>) =>
    until(
      'the event is acknowledged',
      async () => {
        const wasAcknowledged = acknowledged.has(event.id);
        const one = endpoints[Math.floor(Math.random() * endpoints.length)];
        const chosen = Math.random() < 0.3 ? endpoints : [one];
        const answers = await Promise.all(chosen.map((endpoint) => endpoint?.send(event)));
        const outcomes = answers
          .filter((answer) => answer?.status === 200)
          .map((answer) => Reflect.get(Object(answer?.body), 'outcome'));
        counts.answers += answers.length;
        counts.refused += answers.length - outcomes.length;
        if (wasAcknowledged && outcomes.includes('processed')) handledAgain.push(event.id);
        if (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
        else acknowledged.add(event.id);
        return outcomes.length > 0;
      },
      60_000,
    );

  const events = Array.from({ length: EVENTS }, (_, index) =>
    createEvent('transfer.succeeded', { id: `TR_${index % RESOURCES}` }),
  );
  const waiting = [...events];
  const send = async () => {
    for (let event = waiting.pop(); event !== undefined; event = waiting.pop()) {
      onProgress?.(waiting.length);
      await sendUntilAcknowledged(event);
      if (Math.random() < 0.2) await sendUntilAcknowledged(event);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  calm();
  for (const event of events) await sendUntilAcknowledged(event);
  expect(handledAgain).toEqual([]);
  expect(overlaps).toEqual([]);
  expect(events.filter(({ id }) => !handled.has(id))).toEqual([]);
  return counts;
}
