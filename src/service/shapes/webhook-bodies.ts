import * as z from 'zod';
import { catalog } from '../../providers/banking-service/catalog.ts';
import { assumed } from './assumptions.ts';
import { nameOf } from './events.ts';
import { authentication, type Webhook, webhook } from './webhooks.ts';

const url = z
  .string()
  .regex(/^https:\/\//)
  .meta({
    format: 'uri',
    description: 'HTTPS, publicly reachable',
    examples: ['https://example.com/events'],
    ...assumed('"publicly reachable"', 'credentials inside the url of a webhook'),
  });

const filters = z
  .array(
    z.union(
      Object.entries(catalog).map(([entity, types]) =>
        z.looseObject({ entity: z.literal(entity), types: z.array(z.enum(types)) }).meta({
          id: `${nameOf(entity)}EventFilter`,
          description: 'It is assumed that an empty list means all types of the entity: name each type',
          ...assumed(
            'an entity with empty `types` in `enabled_events`, in a request',
            'an entity with empty `types` in an answer, and in the sandbox',
            'an entry of `enabled_events` without `types`',
          ),
        }),
      ),
    ),
  )
  .meta({ description: 'An empty array means every event' });

/** The body that creates a webhook, in the terms of the catalog. */
export const webhookRequest: z.ZodType = z
  .looseObject({ url, enabled_events: filters.optional(), authentication: authentication.optional() })
  .meta({
    id: 'WebhookRequest',
    description: 'That no `authentication` means `NONE` is assumed',
    ...assumed('`authentication` that is left out of a creation'),
  });

/** The body that changes a webhook. */
export const webhookUpdate: z.ZodType = z
  .looseObject({
    url: url.optional(),
    enabled: z.boolean().optional(),
    enabled_events: filters.optional(),
    authentication: authentication.optional(),
  })
  .meta({
    id: 'WebhookUpdate',
    description: 'Only the sent members change; a list replaces the whole list',
    ...assumed(
      'members of an update that are read-only or unknown',
      '`enabled` that is not a boolean, and a body that is not an object',
    ),
  });

/** The answer to a creation, the only one that holds the key. */
export const createdWebhook: z.ZodType<Webhook & { readonly secret_signing_key: string }> = z
  .intersection(
    webhook,
    z.looseObject({ secret_signing_key: z.string().meta(assumed('the form of a signing key')) }),
  )
  .meta({ id: 'CreatedWebhook' });
