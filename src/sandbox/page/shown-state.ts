import type { WebhookEvent } from '../../events/event.ts';
import type { DeliveryAttempt } from '../attempt.ts';
import type { State, StoredWebhook } from '../state.ts';

const SHOWN_PENDING = 500;
const SHOWN_QUOTES = 20;
const SHOWN_BODY_LENGTH = 16_384;
const SHOWN_NAME_LENGTH = 1_000;

/** What the page shows besides events and attempts. */
export function shownState({ clock, webhooks, quotes, pending }: State): object {
  return {
    clock: { now: clock.now(), speed: clock.speed, realNow: Date.now() },
    webhooks: webhooks.map(shownWebhook),
    quotes: quotes.slice(-SHOWN_QUOTES).map(({ quote, expiresAt }) => ({ ...quote, expiresAt })),
    pending: pending.slice(0, SHOWN_PENDING).map(({ event, webhook, number, duplicate, dueAt }) => ({
      event: shownEvent(event),
      webhook,
      number,
      duplicate,
      dueAt,
    })),
    // Of all of them, however many are shown.
    nextDueAt:
      pending.length === 0 ? null : pending.reduce((least, { dueAt }) => Math.min(least, dueAt), Infinity),
  };
}

/**
 * The list of the interface shows credentials, but to administrators only. Whoever opens the page has shown
 * no credentials, so it names their type alone, and never has the signing key.
 */
function shownWebhook({
  id,
  url,
  enabled,
  authentication,
  enabled_events,
  updated_at,
}: StoredWebhook): object {
  return { id, url: cut(url), enabled, authentication: authentication.type, enabled_events, updated_at };
}

/** An event without its data. A message has hundreds of them, and their ids and types have any length. */
export function shownEvent({ id, type, created_at }: WebhookEvent): Omit<WebhookEvent, 'data'> {
  return { id: cut(id, SHOWN_NAME_LENGTH), type: cut(type, SHOWN_NAME_LENGTH), created_at };
}

/** An attempt without the webhook's credentials, its bodies cut. */
export function shownAttempt(attempt: DeliveryAttempt): DeliveryAttempt {
  const { request, response } = attempt;
  return {
    ...attempt,
    event: cut(attempt.event, SHOWN_NAME_LENGTH),
    request: { url: cut(request.url), headers: withoutCredentials(request.headers), body: cut(request.body) },
    ...(response !== undefined && { response: { ...response, body: cut(response.body) } }),
  };
}

/** `Basic ********`: which scheme was used is no secret. */
function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { authorization, ...others } = headers;
  if (authorization === undefined) return others;
  return { ...others, authorization: authorization.replace(/ .*$/s, ' ********') };
}

function cut(text: string, maxLength: number = SHOWN_BODY_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
