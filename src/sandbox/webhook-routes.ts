import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { paths } from '../service/paths.ts';
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, type Webhook, type WebhookList } from '../service/webhooks.ts';
import type { Endpoint } from './endpoint.ts';
import { RefusedError } from './refused-error.ts';
import type { StoredWebhook } from './state.ts';
import { readCreation, readUpdate } from './webhook-request.ts';
import type { Webhooks } from './webhooks.ts';

/** Webhook management (interface, "Create webhook" to "Fetch one webhook"). */
export function webhookRoutes(webhooks: Webhooks, guard: RequestHandler): readonly Endpoint[] {
  return [
    {
      path: paths.webhooks,
      guard,
      get: (request, response) => void response.json(list(webhooks, request)),
      post: (request, response) => {
        const webhook = webhooks.create(readCreation(request.body));
        const { secret_signing_key } = webhook;
        response.status(201).json({ ...shown(webhook, request), secret_signing_key });
      },
    },
    {
      path: paths.webhook,
      guard,
      get: (request, response) => void response.json(shown(webhooks.get(idOf(request)), request)),
      put: (request, response) => {
        const { id } = webhooks.get(idOf(request));
        response.json(shown(webhooks.update(id, readUpdate(request.body)), request));
      },
    },
  ];
}

function idOf({ params }: Request): string {
  return z.string().parse(params.webhookId);
}

/** As the service sends it: the key is shown by the creation only. */
function shown(webhook: StoredWebhook, request: Request): Webhook {
  const href = `${originOf(request)}${paths.webhooks}/${webhook.id}`;
  return { ...webhook, secret_signing_key: null, _links: { self: { href } } };
}

/** With the path below which the sandbox is mounted. */
function originOf(request: Request): string {
  return `${request.protocol}://${request.get('host')}${request.baseUrl}`;
}

function list(webhooks: Webhooks, request: Request): WebhookList {
  const limit = readNumber(request, 'limit', {
    fallback: DEFAULT_LIST_LIMIT,
    least: 1,
    most: MAX_LIST_LIMIT,
  });
  const offset = readNumber(request, 'offset', { fallback: 0, least: 0, most: Number.MAX_SAFE_INTEGER });
  return {
    _embedded: {
      webhooks: webhooks.all.slice(offset, offset + limit).map((webhook) => shown(webhook, request)),
    },
    _links: { self: { href: `${originOf(request)}${request.url}` } },
    page: { limit, offset, count: webhooks.all.length },
  };
}

function readNumber(
  { query }: Request,
  name: string,
  { fallback, least, most }: { readonly fallback: number; readonly least: number; readonly most: number },
): number {
  const text = query[name];
  if (text === undefined) return fallback;
  const value = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new RefusedError(400, `Invalid ${name}`, `${name} must be a whole number from ${least} to ${most}`);
}
