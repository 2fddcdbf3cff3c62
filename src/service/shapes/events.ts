import * as z from 'zod';
import type { EventType } from '../../providers/banking-service/catalog.ts';
import { envelope } from '../../providers/banking-service/envelope.ts';
import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { assumed } from './assumptions.ts';

/** The members of `data` that the interface shows. Others depend on the entity. */
const data = z
  .looseObject({
    id: z.string().optional(),
    state: z.string().optional(),
    amount: z
      .int()
      .optional()
      .meta({
        description: 'Its unit and its currency are not documented',
        ...assumed('the unit and the currency of `data.amount`'),
      }),
    tags: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({
    id: 'EventData',
    description: 'The full resource object of the entity',
    ...assumed(
      'the members of `data`, and the contents for each entity beyond `id`, `state` and `amount`',
      '`data` by default',
    ),
  });

// The service promises UTC. The receiver also accepts a time without a zone.
const members = {
  ...envelope.shape,
  created_at: z.iso.datetime({ offset: true }).meta({
    description: 'UTC',
    ...assumed('`created_at` without a zone, or with an offset', 'the form of `created_at`'),
  }),
  data,
};

/** The schema of an event of any type (interface, "Webhook event"), for the OpenAPI document. */
export const event: z.ZodType<WebhookEvent> = z.looseObject(members).meta({
  id: 'Event',
  description: 'An event of any type, also of one that the service adds later',
  ...assumed(
    'new event types and new members',
    'the form of `type`',
    'event types outside the catalog, in the sandbox',
  ),
});

/**
 * A name for generated code: `PaymentInstrumentVerificationFailed` for the type
 * `payment_instrument.verification.failed`.
 */
export function nameOf(type: string): string {
  return type
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** The meaning of each type (interface, "Events"). */
const meanings: Readonly<Record<EventType, string>> = {
  'transfer.created': 'A transfer was created',
  'transfer.succeeded': 'A transfer succeeded',
  'transfer.failed': 'A transfer failed',
  'transfer.updated': 'A transfer was modified',
  'merchant.created': 'A merchant was created',
  'merchant.updated': 'A merchant was modified',
  'merchant.verification.succeeded': 'The verification of a merchant succeeded',
  'merchant.verification.failed': 'The verification of a merchant failed',
  'payment_instrument.created': 'A payment instrument was created',
  'payment_instrument.updated': 'A payment instrument was modified',
  'payment_instrument.verification.succeeded': 'The verification of a payment instrument succeeded',
  'payment_instrument.verification.failed': 'The verification of a payment instrument failed',
  'settlement.created': 'A settlement was created',
  'settlement.approved': 'A settlement was approved for payout',
  'settlement.funding_transfer.created': 'The payout of a settlement was initiated',
  'settlement.funding_transfer.succeeded': 'The payout of a settlement was completed',
  'settlement.funding_transfer.failed': 'The payout of a settlement failed',
  'subscription.created': 'A subscription was created',
  'subscription.updated': 'A subscription was modified',
  'subscription.canceled': 'A subscription was canceled',
  'subscription.expired': 'A subscription expired',
  'dispute.created': 'A chargeback was received',
  'dispute.updated': 'A dispute was modified',
  'dispute.won': 'A dispute was won',
  'dispute.lost': 'A dispute was lost',
};

/** The events of the catalog, each with its literal type. */
export const events: readonly {
  readonly type: string;
  readonly meaning: string;
  readonly schema: z.ZodType<WebhookEvent>;
}[] = Object.entries(meanings).map(([type, meaning]) => ({
  type,
  meaning,
  schema: z.looseObject({ ...members, type: z.literal(type) }).meta({ id: `${nameOf(type)}Event` }),
}));
