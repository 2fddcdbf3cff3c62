import { createEvent } from 'posthorn/testing';
import { send } from '../../stores/redis/deliveries.ts';
import { pick } from '../../support/pick.ts';
import { until } from '../../support/until.ts';
import type { Started } from './processes.ts';

/** The outcomes of the deliveries of a storm. */
export interface DeliveryCounts {
  events: number;
  deliveries: number;
  acknowledged: number;
  refused: number;
  cut: number;
}

interface Site {
  readonly receivers: readonly Started[];
  readonly counts: DeliveryCounts;
}

/** Delivers an event, with this probability twice at once, until one delivery is acknowledged. */
export async function deliverOne({ counts, receivers }: Site, twice: number): Promise<void> {
  const event = createEvent('transfer.created');
  counts.events += 1;
  const deliver = async (): Promise<boolean> => {
    counts.deliveries += 1;
    const answer = await send(pick(receivers).url, event).catch(() => undefined);
    const isAcknowledged = answer?.status === 202 || answer?.status === 200;
    if (answer === undefined) counts.cut += 1;
    else if (isAcknowledged) counts.acknowledged += 1;
    else counts.refused += 1;
    return isAcknowledged;
  };
  await until('the event is acknowledged', async () => {
    const deliveries = Math.random() < twice ? [deliver(), deliver()] : [deliver()];
    return (await Promise.all(deliveries)).includes(true);
  });
}
