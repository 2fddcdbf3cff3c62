import { createHmac } from 'node:crypto';
import { type Delivery, defineProvider, hmacSignature, type Provider } from 'posthorn';
import { KEY } from './served.ts';

/** An event of a sender whose members have other names than those of the banking service. */
export interface OtherEvent {
  readonly event_id: string;
  readonly type: 'transfer.succeeded' | 'transfer.failed' | 'refund';
  /** In whole seconds, as Stripe has them. */
  readonly created?: number;
  readonly resource?: string;
}

/** The provider of that sender, under any name. Its retries are by default those of the banking service. */
export function otherSender(
  name = 'acme',
  retries: Provider['retries'] = [60_000, 300_000, 900_000],
): Provider<OtherEvent> {
  return defineProvider<OtherEvent>({
    name,
    signature: hmacSignature({
      encoding: 'hex',
      read: (headers) => ({ signatures: [headers.get('other-signature') ?? ''] }),
    }),
    readEvent: ({ rawBody }) => {
      const event = JSON.parse(Buffer.from(rawBody).toString());
      const createdAtMs = event.created === undefined ? undefined : event.created * 1_000;
      return { id: event.event_id, type: event.type, createdAtMs, event };
    },
    answerWithinMs: 30_000,
    retries,
  });
}

/** A delivery as that sender signs it. */
export function deliveryOfOther(event: OtherEvent): Delivery {
  const body = JSON.stringify(event);
  const signature = createHmac('sha256', KEY).update(body).digest('hex');
  return { method: 'POST', headers: { 'other-signature': [signature] }, readBody: async () => body };
}
