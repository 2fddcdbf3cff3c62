import { createMemoryStore, createReceiver, type ReceiverOptions } from 'posthorn';
import { signedHeaders } from 'posthorn/testing';
import { KEY } from './served.ts';

export const CREATED_AT = '2026-05-04T03:02:01.000Z';
export const NOW = Date.parse(CREATED_AT);

const sharedStore = createMemoryStore();

/** A receiver whose clock stands still. */
export function receiverAt(now: number, options: Partial<ReceiverOptions> = {}) {
  return createReceiver({ signingKey: KEY, store: sharedStore, now: () => now, ...options }).observe(
    () => {},
  );
}

/** Verifies a body that is signed as it should be. */
export function verify(body: string | Uint8Array, now: number = NOW, options: Partial<ReceiverOptions> = {}) {
  return receiverAt(now, options).verify(body, signedHeaders(body, { key: KEY }));
}

export const members = { id: 'evt_1', type: 'transfer.created', created_at: CREATED_AT, data: {} };

/** The body of an event with some members changed; undefined leaves one out. */
export function envelope(changes: Record<string, unknown>): string {
  return JSON.stringify({ ...members, ...changes });
}
