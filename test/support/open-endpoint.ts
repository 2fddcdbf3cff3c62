import {
  createReceiver,
  type EventData,
  type EventOf,
  type HandlerContext,
  type HandlerOptions,
  type Outcome,
  type Pattern,
  type Receiver,
  type ReceiverOptions,
  type Report,
  type WebhookEvent,
} from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import { awaitedLater } from './awaited-later.ts';
import { deliveryOf } from './delivery-of.ts';
import { Seen } from './seen.ts';
import { KEY, serve } from './served.ts';

/** A mounted receiver that tells what it answers and reports. */
export interface Endpoint {
  readonly url: string;
  readonly receiver: Receiver;
  readonly reports: Seen<Report>;
  /** Its answer may be awaited later. */
  readonly send: (
    event: object | string | Uint8Array<ArrayBuffer>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  /** Sends without a socket: for thousands of events, and where a test stops the time. */
  readonly receive: (event: object | string | Uint8Array) => Promise<Answer>;
}

/** The parts of an answer that are a contract. */
export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  readonly body: unknown;
}

export type EndpointOptions = Partial<ReceiverOptions<Record<never, never>>>;

/** Registers a handler: the only one of an endpoint. */
export function on<const P extends Pattern>(
  pattern: P | readonly P[],
  handler: (event: EventOf<P>, context: HandlerContext) => unknown,
  options?: HandlerOptions<EventOf<P>>,
): (receiver: Receiver) => void {
  return (receiver) => void receiver.on(pattern, handler, options);
}

const handleAll = on('*', () => {});

/** Serves a receiver on a free port until the test is over. */
export async function openEndpoint(
  options: EndpointOptions = {},
  register: (receiver: Receiver) => void = handleAll,
): Promise<Endpoint> {
  const { receiver, reports, send: receive } = openDirectly(options, register);
  const url = await serve(receiver);
  const send: Endpoint['send'] = (event, headers = {}) =>
    awaitedLater(deliver(url, event, { key: KEY, headers }).then(readAnswer));
  return { url, receiver, reports, send, receive };
}

/** An {@link Endpoint} without a socket, for a test that stops the time. */
export type DirectEndpoint = Omit<Endpoint, 'url' | 'receive' | 'send'> & {
  readonly send: Endpoint['receive'];
};

/** Sends a new event, fails unless its answer has this status, and gives the event. */
export async function sendNew(send: Endpoint['send'], status: number) {
  const event = createEvent('transfer.succeeded');
  expect((await send(event)).status).toBe(status);
  return event;
}

/** Opens a receiver until the test is over. */
export function openDirectly(
  options: EndpointOptions = {},
  register: (receiver: Receiver) => void = handleAll,
): DirectEndpoint {
  const receiver = createReceiver({ signingKey: KEY, ...options });
  const reports = new Seen<Report>();
  receiver.observe(reports.add);
  register(receiver);
  onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
  return { receiver, reports, send: (event) => awaitedLater(receiveBy(receiver, event)) };
}

async function receiveBy(receiver: Receiver, event: object | string | Uint8Array): Promise<Answer> {
  const { status, headers, body } = await receiver.receive(deliveryOf(event));
  const contentType = headers['content-type'] ?? null;
  return { status, contentType, retryAfter: headers['retry-after'] ?? null, body: JSON.parse(body) };
}

/** Reads an answer to its end. */
export async function readAnswer(response: Response): Promise<Answer> {
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
  };
}

/** An event of the given moment. */
export function eventAt(createdAt: number): WebhookEvent<'transfer.succeeded', EventData> {
  return { ...createEvent('transfer.succeeded'), created_at: new Date(createdAt).toISOString() };
}

/** The 200 of an outcome, whole. */
export function accepted(outcome: Outcome, id: string): Answer {
  return { status: 200, contentType: 'application/json', retryAfter: null, body: { outcome, id } };
}

/** The refusal with a code, whole. */
export function refused(status: number, code: string): Answer {
  return {
    status,
    contentType: 'application/problem+json',
    retryAfter: status === 503 ? expect.stringMatching(/^[1-9]\d*$/) : null,
    body: { title: expect.any(String), status, code },
  };
}
