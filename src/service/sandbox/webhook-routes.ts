import { paths } from '../shapes/paths.ts';
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, type Webhook, type WebhookList } from '../shapes/webhooks.ts';
import { ok } from './answer.ts';
import type { Guard } from './authentication.ts';
import type { Endpoint, SandboxRequest } from './endpoint.ts';
import { RefusedError } from './refused-error.ts';
import type { StoredWebhook } from './state.ts';
import { readCreation, readUpdate } from './webhook-request.ts';
import type { Webhooks } from './webhooks.ts';

/** Webhook management (interface, "Create webhook" to "Fetch one webhook"). */
export function webhookRoutes(webhooks: Webhooks, guard: Guard): readonly Endpoint[] {
  return [
    {
      path: paths.webhooks,
      guard,
      get: (request) => ok(list(webhooks, request)),
      post: (request) => {
        const webhook = webhooks.create(readCreation(request.body));
        const { secret_signing_key } = webhook;
        return { status: 201, body: { ...shown(webhook, request), secret_signing_key } };
      },
    },
    {
      path: paths.webhook,
      guard,
      get: (request) => ok(shown(webhooks.get(request.id), request)),
      put: (request) => {
        const { id } = webhooks.get(request.id);
        return ok(shown(webhooks.update(id, readUpdate(request.body)), request));
      },
    },
  ];
}

/** A webhook as the service sends it: only the creation shows the key. */
function shown(webhook: StoredWebhook, { baseAddress }: SandboxRequest): Webhook {
  const href = `${baseAddress}${paths.webhooks}/${webhook.id}`;
  return { ...webhook, secret_signing_key: null, _links: { self: { href } } };
}

function list(webhooks: Webhooks, request: SandboxRequest): WebhookList {
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
    _links: { self: { href: `${request.baseAddress}${request.target}` } },
    page: { limit, offset, count: webhooks.all.length },
  };
}

function readNumber(
  { query }: SandboxRequest,
  name: string,
  { fallback, least, most }: { readonly fallback: number; readonly least: number; readonly most: number },
): number {
  const [text, ...others] = query.getAll(name);
  if (text === undefined) return fallback;
  const value = others.length === 0 && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new RefusedError(400, `Invalid ${name}`, `${name} must be a whole number from ${least} to ${most}`);
}
