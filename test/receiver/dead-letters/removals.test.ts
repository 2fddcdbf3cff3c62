import { PermanentError } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { accepted, eventAt, openEndpoint } from '../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';

/** An endpoint that tells how often its dead letters were asked to remove a letter. */
async function openCounting(handle: () => unknown) {
  const { clock, deadLetters: map } = stepClocked();
  const removals: string[] = [];
  const remove = (id: string) => {
    removals.push(id);
    return map.remove(id);
  };
  const options = { now: clock.now, deadLetters: { ...map, remove } };
  const endpoint = await openEndpoint(options, (receiver) => receiver.on('transfer.*', handle));
  return { ...endpoint, clock, event: eventAt(clock.startedAt), map, removals };
}

describe('the dead letters are asked to remove a letter', () => {
  test('neither for a first attempt nor for the duplicates of its event, however late they come', async () => {
    const { clock, event, removals, send } = await openCounting(() => 'done');
    expect(await send(event)).toEqual(accepted('processed', event.id));
    for (const minutes of [0, 1, 15, 60]) {
      clock.moveTo(minutes * MINUTE_MS);
      expect(await send(event)).toEqual(accepted('duplicate', event.id));
    }
    expect(removals).toEqual([]);
  });

  test('once for a last attempt, and not for the duplicates of its event', async () => {
    const { clock, event, removals, send } = await openCounting(() => 'done');
    clock.moveTo(15 * MINUTE_MS);
    expect(await send(event)).toEqual(accepted('processed', event.id));
    for (let count = 0; count < 3; count += 1) {
      expect(await send(event)).toEqual(accepted('duplicate', event.id));
    }
    expect(removals).toEqual([event.id]);
  });

  test('once for the retry of a parked event, and not for the duplicates of it', async () => {
    let isMended = false;
    const { event, map, removals, send } = await openCounting(() => {
      if (!isMended) throw new PermanentError('poison');
    });
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(await map.get(event.id)).toBeDefined();
    isMended = true;
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(await map.get(event.id)).toBeUndefined();
    expect(removals).toEqual([event.id]);
  });
});
