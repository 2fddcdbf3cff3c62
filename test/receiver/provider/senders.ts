import { createHmac } from 'node:crypto';
import {
  type Delivery,
  defineProvider,
  hmacSignature,
  type Provider,
  type ProviderRequest,
  type TypedEvent,
} from 'posthorn';
import { KEY } from '../../support/served.ts';

/** An event of the sender "acme", whose types are not listed. */
export interface AcmeEvent extends TypedEvent {
  readonly event_id: string;
  readonly occurred_at?: string;
}

/** A made-up sender that signs the body alone, in hex. */
export function acme(members: Partial<Provider<AcmeEvent>> = {}): Provider<AcmeEvent> {
  return defineProvider<AcmeEvent>({
    name: 'acme',
    signature: hmacSignature({
      encoding: 'hex',
      read: (headers) => ({ signatures: [headers.get('acme-signature') ?? ''] }),
    }),
    readEvent: ({ rawBody }) => {
      const event = JSON.parse(Buffer.from(rawBody).toString());
      const createdAtMs = event.occurred_at && Date.parse(event.occurred_at);
      return { id: event.event_id, type: event.type, createdAtMs, event };
    },
    answerWithinMs: 10_000,
    retries: [60_000, 3_600_000],
    ...members,
  });
}

let count = 0;

/** Creates an event of "acme". */
export function acmeEvent(type = 'invoice.paid', occurredAtMs?: number): AcmeEvent {
  count += 1;
  const occurredAt = occurredAtMs === undefined ? {} : { occurred_at: new Date(occurredAtMs).toISOString() };
  return { event_id: `ev_${count}`, type, ...occurredAt };
}

/** The headers with which "acme" sends a body. */
export function acmeHeaders(body: string, key: string = KEY): Record<string, string> {
  return { 'acme-signature': createHmac('sha256', key).update(body).digest('hex') };
}

/** A delivery of "acme", as an adapter would hand it over. */
export function acmeDelivery(event: object, key: string = KEY): Delivery {
  return toDelivery(JSON.stringify(event), acmeHeaders(JSON.stringify(event), key));
}

/** A delivery as an adapter would hand it over. */
export function toDelivery(body: string, headers: Readonly<Record<string, string>>): Delivery {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value]]);
  return { method: 'POST', headers: Object.fromEntries(entries), readBody: async () => Buffer.from(body) };
}

/** A made-up chat that asks a question before the first event. Its signature covers the time. */
export function chat<E extends TypedEvent = TypedEvent>(
  answer: (body: unknown) => unknown = challengeOf,
): Provider<E> {
  return defineProvider<E>({
    name: 'chat',
    signature: hmacSignature({
      encoding: 'hex',
      read: (headers) => {
        const time = headers.get('chat-time');
        return {
          signatures: [headers.get('chat-signature') ?? ''],
          time,
          content: (rawBody) => [`${time}:`, rawBody],
        };
      },
    }),
    // Typed as any function, because tests give wrong answers too.
    handshake: Object((request: ProviderRequest) => answer(parse(request))),
    readEvent: (request) => {
      const { id, event } = parse(request);
      return { id, type: event.type, event };
    },
    answerWithinMs: 3_000,
    retries: [60_000, 300_000],
  });
}

function parse({ rawBody }: ProviderRequest) {
  return JSON.parse(Buffer.from(rawBody).toString());
}

function challengeOf(body: unknown): unknown {
  return Object(body).type === 'question' ? { challenge: Object(body).challenge } : undefined;
}

/** The headers with which the chat sends a body. */
export function chatHeaders(
  body: string,
  atMs: number = Date.now(),
  key: string = KEY,
): Record<string, string> {
  const time = String(Math.floor(atMs / 1_000));
  const signature = createHmac('sha256', key).update(`${time}:${body}`).digest('hex');
  return { 'chat-time': time, 'chat-signature': signature };
}
