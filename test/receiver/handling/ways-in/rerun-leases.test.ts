import { createMemoryStore, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { shutGate } from '../../../support/gate.ts';
import { handledEntry } from '../../../support/handled-entry.ts';
import { forwardedClock } from '../../../support/monotonic-clock.ts';
import { openCounting } from './counting.ts';

const LEASE_MS = 2_000;
const event = createEvent('transfer.succeeded');
const entry = handledEntry(event);
const runOf = (run: string) => ({ handlers: ['book'], run });
const idOf = (run: string): string => `handled:rerun:4:book:${run.length}:${run}:${event.id}`;

describe('a process that stands still after it has taken the turn of the handler', () => {
  /** Two receivers of one store. The claim of the run "slow" is answered when the gate opens. */
  function openTwo() {
    const memory = createMemoryStore();
    const gate = shutGate();
    const claim: Store['claim'] = async (request) => {
      const answer = await memory.claim(request);
      if (request.id === idOf('slow')) await gate.pass();
      return answer;
    };
    const leaseMs = LEASE_MS;
    return {
      gate,
      memory,
      slow: openCounting({ store: { ...memory, claim }, leaseMs }),
      other: openCounting({ store: memory, leaseMs }),
    };
  }

  test('does not run the handler if another rerun has the turn by then, and gives its claim back', async () => {
    const forward = forwardedClock();
    const { gate, memory, other, slow } = openTwo();
    const rerun = slow.receiver.rerun(entry, runOf('slow'));
    await gate.held.nth(1);
    forward(LEASE_MS);
    expect(await other.receiver.rerun(entry, runOf('other'))).toMatchObject({ outcome: 'processed' });
    gate.open();
    expect(await rerun).toMatchObject({ outcome: 'busy', code: 'event_running', handlers: [] });
    expect(slow.runs).toEqual([]);
    expect(memory.peek?.({ id: idOf('slow') })).toEqual({ state: 'unknown' });
  });

  test('runs it if the turn is still its own', async () => {
    const forward = forwardedClock();
    const { gate, slow } = openTwo();
    const rerun = slow.receiver.rerun(entry, runOf('slow'));
    await gate.held.nth(1);
    forward(LEASE_MS);
    gate.open();
    expect(await rerun).toMatchObject({ outcome: 'processed' });
  });
});
