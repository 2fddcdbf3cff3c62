import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox } from 'posthorn/sandbox';
import { expect } from 'vitest';
import type { Receiving } from './receiving.ts';

/** Events that happen all the while, besides those that are asked for. */
export interface Stream {
  readonly ids: string[];
  /** One more event, now. */
  readonly send: () => void;
  /** Ends the stream, lets every retry fall due, and expects each event to have been handled exactly once. */
  readonly expectEachOnce: () => Promise<void>;
}

const HOUR_MS = 3_600_000;

export function startStream(sandbox: Sandbox, { handled, reports }: Receiving): Stream {
  const ids: string[] = [];
  const controller = new AbortController();
  const send = (): void => {
    const id = `evt_${ids.length + 1}`;
    ids.push(id);
    sandbox.send({ type: 'transfer.succeeded', id });
  };
  const { signal } = controller;
  const sending = (async () => {
    // One after the other, so that a busy machine gets fewer and never a backlog.
    while (!signal.aborted) {
      send();
      await Promise.all([delay(10), sandbox.settled()]);
    }
  })();
  const expectEachOnce = async (): Promise<void> => {
    controller.abort();
    await sending;
    await sandbox.clock.advance(HOUR_MS);
    expect(handled.toSorted()).toEqual(ids.toSorted());
    // Rejected: what an orphan signed with a key that nobody has. Duplicate: what both webhooks sent.
    const outcomes = new Set(reports.map(({ outcome }) => outcome));
    expect(['processed', 'duplicate', 'rejected']).toEqual(expect.arrayContaining([...outcomes]));
  };
  return { ids, send, expectEachOnce };
}
