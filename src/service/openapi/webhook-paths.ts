import type * as z from 'zod';
import { type Assumed, assumed } from '../shapes/assumptions.ts';
import { errorBody } from '../shapes/error-body.ts';
import { paths } from '../shapes/paths.ts';
import { createdWebhook, webhookRequest, webhookUpdate } from '../shapes/webhook-bodies.ts';
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, webhook, webhookList } from '../shapes/webhooks.ts';
import { jsonBody, jsonResponse, responsesWith } from './bodies.ts';
import type { Operation, PathItem } from './operation.ts';

/** The management of webhooks (interface, "Create webhook" to "Fetch one webhook"). */
export function webhookPaths(): Record<string, PathItem> {
  return {
    [paths.webhooks]: { get: listWebhooks, post: createWebhook },
    // The parameter has the interface's name here, and our own name elsewhere.
    [paths.webhook.replace('{webhookId}', '{webhook_id}')]: { get: retrieveWebhook, put: updateWebhook },
  };
}

const common = { tags: ['Webhooks'], security: [{ administrator: [] }] };

const webhookId = { name: 'webhook_id', in: 'path', required: true, schema: { type: 'string' } };

const SHOWN_FOR_UPDATE = '; shown for an update, and assumed here';
const asForUpdate = assumed('the errors of creating a webhook, and of fetching one');

/**
 * The response for an unknown webhook. The interface shows it for an update; for other operations it is
 * assumed.
 */
function notFound(note = '', marks: Assumed = {}): object {
  return jsonResponse(`No such webhook: unknown, deleted, or of another environment${note}`, errorBody, {
    examples: { webhook: { value: { status: 404, message: 'Webhook not found' } } },
    ...marks,
  });
}

/** The response for an invalid request, shown and assumed in the same way. */
function badRequest(note = '', marks: Assumed = {}): object {
  return jsonResponse(`The request is not valid${note}`, errorBody, { examples: badRequests, ...marks });
}

const badRequests = {
  url: {
    summary: 'url is not HTTPS or is malformed',
    value: { status: 400, message: 'Invalid URL', details: 'URL must use the HTTPS protocol' },
  },
  authentication: {
    summary: 'Members are missing, or the type is invalid',
    value: {
      status: 400,
      message: 'Invalid authentication configuration',
      details: 'Basic authentication requires username and password',
    },
  },
  enabled_events: {
    summary: 'An entity or an event type is unknown',
    value: { status: 400, message: 'Invalid enabled_events', details: 'Unknown entity type' },
  },
};

const statuses = [
  'the success statuses of the webhook operations',
  'the success statuses of the webhook operations, in the document',
  'the success statuses of the webhook operations, in the sandbox',
] as const;

/** The response of a success, whose status is assumed. */
function success(description: string, schema: z.ZodType): object {
  return jsonResponse(`${description}; the status is assumed`, schema, assumed(...statuses));
}

const createWebhook: Operation = {
  ...common,
  operationId: 'createWebhook',
  summary: 'Create a webhook, enabled',
  description: 'Administrators only. The answer is the only one that ever holds the signing key.',
  requestBody: jsonBody(webhookRequest),
  responses: responsesWith({
    201: success('The webhook with its signing key', createdWebhook),
    400: badRequest(SHOWN_FOR_UPDATE, asForUpdate),
  }),
};

const listWebhooks: Operation = {
  ...common,
  operationId: 'listWebhooks',
  summary: 'List webhooks',
  description: 'Administrators only. `secret_signing_key` is null in every item.',
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: `The size of the page: ${DEFAULT_LIST_LIMIT} by default, at most ${MAX_LIST_LIMIT}`,
      schema: { type: 'integer', minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT },
      ...assumed('a limit or an offset that is none'),
    },
    {
      name: 'offset',
      in: 'query',
      description: 'The number of webhooks to skip; the name is assumed',
      schema: { type: 'integer', minimum: 0, default: 0 },
      ...assumed(
        'the parameter that sets the offset, and the end of the list of webhooks',
        'the parameter that sets the offset, and the order of the list, in the sandbox',
        'a limit or an offset that is none',
      ),
    },
  ],
  responses: responsesWith({
    200: success('A page of webhooks', webhookList),
  }),
};

const retrieveWebhook: Operation = {
  ...common,
  operationId: 'retrieveWebhook',
  summary: 'Fetch one webhook',
  description: 'Administrators only. The forms of the request and of the answer are assumed.',
  parameters: [webhookId],
  responses: responsesWith({
    200: success('The webhook, without its key', webhook),
    404: notFound(SHOWN_FOR_UPDATE, asForUpdate),
  }),
  ...assumed(
    'fetching one webhook: request and response',
    'fetching one webhook and deleting it, in the sandbox',
  ),
};

const updateWebhook: Operation = {
  ...common,
  operationId: 'updateWebhook',
  summary: 'Change the members that are sent',
  description:
    'Administrators only. A new url or authentication takes effect at once, `enabled_events` replaces the ' +
    'whole list, and `secret_signing_key` cannot be changed. Enabling resumes the delivery of events.',
  parameters: [webhookId],
  requestBody: jsonBody(webhookUpdate),
  responses: responsesWith({
    200: success('The whole webhook, without its key', webhook),
    400: badRequest(),
    404: notFound(),
  }),
};
