import { createMemoryStore } from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { aborted } from '../../../support/aborted.ts';
import { flowingTime } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, eventAt, openDirectly, refused } from '../../../support/open-endpoint.ts';
import { StepClock } from '../../../support/step-clock.ts';

beforeEach(flowingTime);

const RETENTION_MS = 86_400_000;

describe('a run that fails after another process has taken its event', () => {
  async function openTaken(clock: StepClock) {
    const memory = createMemoryStore({ now: clock.now });
    const held = new HeldHandler();
    const options = { now: clock.now, store: memory, deadLetters: createMapDeadLetters(), leaseMs: 300 };
    const { send } = openDirectly(options, (receiver) => receiver.on('transfer.*', held.handle));
    const event = eventAt(clock.startedAt);
    const running = send(event);
    const call = await held.calls.nth(1);
    const other = { id: event.id, token: 'other', retentionMs: RETENTION_MS, leaseMs: 1_000 };
    clock.step(40_000);
    expect(await memory.claim({ ...other, attemptSpacingMs: 30_000 })).toMatchObject({ spacedAttempts: 2 });
    expect(await aborted(call.context.signal)).toMatchObject({ code: 'lease_lost' });
    return { memory, held, other, send, event, running, call };
  }

  test('counts no further attempt, so that a retry is not taken for the last one', async () => {
    const clock = new StepClock();
    const { memory, held, other, send, event, running, call } = await openTaken(clock);
    await memory.release({ ...other, handled: [] });
    clock.step(35_000);
    call.fail(new Error('no'));
    expect(await running).toEqual(refused(500, 'handler_failed'));
    clock.step(35_000);
    const retried = send(event);
    const retry = await held.calls.nth(2);
    expect(retry.context).toMatchObject({ attempt: 3, final: false });
    retry.succeed();
    expect(await retried).toEqual(accepted('processed', event.id));
  });

  test('leaves the other process its lease, even if that is late with a renewal', async () => {
    const clock = new StepClock();
    const { memory, other, running, call } = await openTaken(clock);
    clock.step(1_001);
    call.fail(new Error('no'));
    expect(await running).toEqual(refused(500, 'handler_failed'));
    expect(await memory.renew(other)).toEqual({ state: 'held' });
  });
});
