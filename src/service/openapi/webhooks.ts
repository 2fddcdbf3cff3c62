import type * as z from 'zod';
import { type Assumed, assumed } from '../shapes/assumptions.ts';
import { events, nameOf } from '../shapes/events.ts';
import { jsonBody } from './bodies.ts';
import type { Operation, PathItem } from './operation.ts';

/** The tag of the events. It describes the common parts of all deliveries once. */
export const eventsTag: { readonly name: string; readonly description: string } & Assumed = {
  name: 'Events',
  description:
    'Only enabled webhooks receive events, and of those only the ones whose `enabled_events` is empty or ' +
    'names the entity and type. It is assumed that an entity with empty `types` stands for all of its types. ' +
    'The endpoint answers with a status from 200 to 299 within 30 seconds. Otherwise the service retries up ' +
    'to 3 times, after 1, 5 and 15 minutes, and then stops sending until the webhook is enabled again. ' +
    'Duplicates can occur: discard repeated ids.',
  ...assumed(
    '"after 1, 5 and 15 minutes": offsets, or delays that add up to 21 minutes',
    'retries after 1, 5 and 15 minutes, in the sandbox',
    'the order of deliveries, and the transitions of the entities behind the events',
    'the operations that trigger each event',
    'events for FX quotes and eChecks',
    'an entity with empty `types` in `enabled_events`, in a request',
    'an entity with empty `types` in an answer, and in the sandbox',
    'events, and retries that fall due, while a webhook is disabled',
    'retries of earlier events after a new url or new credentials',
    'an answer that breaks off, or does not end, after its status',
    'redirects of an endpoint',
    '`rotate`: the id of an event that two webhooks send',
    '`rotate`: retries of the old webhook that are under way',
  ),
};

/** Creates one entry per event type, so that generated code has a name and a literal `type` for each. */
export function openApiWebhooks(): Record<string, PathItem> {
  return Object.fromEntries(
    events.map(({ type, meaning, schema }) => [type, { post: delivery(type, meaning, schema) }]),
  );
}

function delivery(type: string, summary: string, schema: z.ZodType): Operation {
  return {
    operationId: `receive${nameOf(type)}`,
    summary,
    tags: [eventsTag.name],
    security: [{}, { webhookBasic: [] }, { webhookBearer: [] }],
    parameters: [signature],
    requestBody: jsonBody(schema),
    responses: {
      '2XX': { description: 'The event is received' },
      default: { description: 'The delivery has failed' },
    },
  };
}

const signature = {
  name: 'x-service-signature',
  in: 'header',
  required: true,
  description:
    'The hex digest of the HMAC-SHA256 of the body, exactly as sent, under the `secret_signing_key` of the ' +
    "webhook. Reject a mismatch. `service` stands for the vendor's part of the real name.",
  schema: { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' },
  ...assumed(
    'the real name of the signature header',
    'the encoding of the signing key',
    'upper or lower case of the hex digest',
  ),
} as const;
