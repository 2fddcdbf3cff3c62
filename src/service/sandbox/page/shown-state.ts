import type { WebhookEvent } from '../../../providers/banking-service/event.ts';
import type { DeliveryAttempt } from '../attempt.ts';
import { shownQuote } from '../fx-quotes.ts';
import { shownId } from '../shown-id.ts';
import { earliestDueAt, type State, type StoredWebhook } from '../state.ts';

const SHOWN_PENDING = 500;
const SHOWN_QUOTES = 20;
const SHOWN_BODY_LENGTH = 16_384;
const SHOWN_TYPE_LENGTH = 1_000;

/** The parts of the page besides events and attempts. */
export function shownState({ clock, webhooks, quotes, pending }: State): object {
  const { speed, agesEvents } = clock;
  const nextDueAt = earliestDueAt(pending);
  return {
    clock: { now: clock.shownNow(), speed, agesEvents, realNow: Date.now() },
    webhooks: webhooks.map(shownWebhook),
    quotes: quotes.slice(-SHOWN_QUOTES).map((quote) => ({
      ...shownQuote(quote, clock),
      expiresAt: clock.shownTimeOf(quote.expiresAt),
    })),
    pending: pending.slice(0, SHOWN_PENDING).map(({ event, webhook, number, duplicate, dueAt }) => ({
      event: shownEvent(event),
      webhook,
      number,
      duplicate,
      dueAt: clock.shownTimeOf(dueAt),
    })),
    // Of all pending deliveries, however many are shown.
    nextDueAt: nextDueAt === undefined ? null : clock.shownTimeOf(nextDueAt),
  };
}

/**
 * The interface shows the credentials of a webhook to administrators only. Anybody can open the page, so it
 * names only their type, and never has the signing key.
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

/**
 * An event without its data: a message has hundreds of events, and their ids and types can have any length.
 */
export function shownEvent(event: WebhookEvent): ShownEvent {
  const { id, type, created_at } = event;
  // A message may have hundreds of deliveries of one event, and the digest of a long id takes a while.
  const shown = shownEvents.get(event) ?? { id: shownId(id), type: cut(type, SHOWN_TYPE_LENGTH), created_at };
  shownEvents.set(event, shown);
  return shown;
}

type ShownEvent = Omit<WebhookEvent, 'data'>;

const shownEvents = new WeakMap<WebhookEvent, ShownEvent>();

/** An attempt without the webhook's credentials, and with cut bodies. */
export function shownAttempt(attempt: DeliveryAttempt): DeliveryAttempt {
  const { request, response, olderThan } = attempt;
  return {
    ...attempt,
    ...(olderThan !== undefined && { olderThan: shownId(olderThan) }),
    event: shownId(attempt.event),
    request: { url: cut(request.url), headers: withoutCredentials(request.headers), body: cut(request.body) },
    ...(response !== undefined && { response: { ...response, body: cut(response.body) } }),
  };
}

/** Shows `Basic ********`: the scheme is not a secret. */
function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { authorization, ...others } = headers;
  if (authorization === undefined) return others;
  return { ...others, authorization: authorization.replace(/ .*$/s, ' ********') };
}

function cut(text: string, maxLength: number = SHOWN_BODY_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
