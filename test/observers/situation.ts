import { type IncomingMessage, request } from 'node:http';
import type { Receiver, Report, WebhookEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import type { HeldHandler } from '../support/held-handler.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import type { EndpointOptions } from '../support/open-endpoint.ts';
import { MINUTE_MS } from '../support/step-clock.ts';
import { type basic, bearer, leakyError, payload } from './secrets.ts';

/** A receiver that is served, in which a situation comes about. */
export interface Place {
  readonly url: string;
  readonly receiver: Receiver;
  readonly held: HeldHandler;
  /** Sends what is signed and has credentials; resolves with the status. */
  readonly send: (body: object | string, options?: SendOptions) => Promise<number>;
}

export interface SendOptions {
  readonly key?: string;
  readonly authentication?: typeof basic | typeof bearer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signatureHeader?: string;
}

/** How one outcome or code is brought about. */
export interface Situation {
  readonly name: string;
  /** One of the reports. */
  readonly expected: Partial<Report>;
  readonly options?: () => EndpointOptions;
  /** What stands before the receiver in a framework. */
  readonly middleware?: (incoming: IncomingMessage, next: () => void) => void;
  /** `*` by default, with a handler that succeeds. */
  readonly register?: (receiver: Receiver, held: HeldHandler) => unknown;
  readonly run: (place: Place) => Promise<unknown>;
}

export const fail = (): never => {
  throw leakyError('no booking today');
};
export const failLate = async (): Promise<never> => fail();

/** An event full of what must not be logged. */
export function secretEvent(ageMs = 0): WebhookEvent<'transfer.succeeded', typeof payload> {
  const created_at = new Date(Date.now() - ageMs).toISOString();
  return { ...createEvent('transfer.succeeded', payload), created_at };
}

export const LAST_MS = 20 * MINUTE_MS;

export const parking = (): EndpointOptions => ({ deadLetters: createMapDeadLetters() });
export const failing = (receiver: Receiver): unknown => receiver.on('*', fail, { name: 'book' });
export const holding = (receiver: Receiver, held: HeldHandler): unknown => receiver.on('*', held.handle);

export const authorized = { authorization: `Bearer ${bearer.bearer.token}` };
export const unsigned = { ...authorized, 'x-service-signature': '0'.repeat(64) };
export const json = JSON.stringify(secretEvent());

/** Sends a part of a body, and then nothing; resolves with the request. */
export async function sendPart(url: string, bytes: number, declaredBytes: number) {
  const authorization = `Bearer ${bearer.bearer.token}`;
  const headers = {
    authorization,
    'content-length': declaredBytes,
    'x-service-signature': '0'.repeat(64),
  };
  const outgoing = request(url, { method: 'POST', headers, agent: false });
  outgoing.on('error', () => {});
  await new Promise((resolve) => outgoing.write(payload.iban.padEnd(bytes, 'x'), resolve));
  return outgoing;
}
