import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { entityOf } from '../../receiver/events/event-types.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { parseJson } from '../shapes/parse-json.ts';
import type { DeliveryAttempt } from './attempt.ts';
import { isSuccess } from './retry-schedule.ts';

/** Returns an event that is older than it was. */
export function aged(event: WebhookEvent, agedMs: number): WebhookEvent {
  if (agedMs === 0) return event;
  return { ...event, created_at: new Date(Date.parse(event.created_at) - agedMs).toISOString() };
}

/** The members of an attempt that say how its event has aged; empty if it has not. */
export function agingOf(
  event: WebhookEvent,
  agedMs: number,
  webhook: string,
  attempts: readonly DeliveryAttempt[],
): Pick<DeliveryAttempt, 'agedMs' | 'olderThan'> {
  if (agedMs === 0) return {};
  const ofWebhook = attempts.filter((attempt) => attempt.webhook === webhook);
  const isSaid = ofWebhook.some((attempt) => attempt.event === event.id && attempt.olderThan !== undefined);
  const olderThan = isSaid ? undefined : findNewer(event, agedMs, ofWebhook);
  return { agedMs, ...(olderThan !== undefined && { olderThan }) };
}

/**
 * Finds an event of the same resource that happened before this one, and has ended with a later `created_at`,
 * because only this one has grown older since then. In production that cannot be.
 */
function findNewer(
  event: WebhookEvent,
  agedMs: number,
  attempts: readonly DeliveryAttempt[],
): string | undefined {
  const happenedAt = Date.parse(event.created_at);
  return attempts.find((attempt) => {
    const { duplicate, changed } = attempt;
    if (attempt.event === event.id || duplicate || changed || !isSuccess(attempt)) return false;
    const sent = parseJson(attempt.request.body);
    const createdAt = Date.parse(String(propertyOf(sent, 'created_at')));
    const isOlder = createdAt + (attempt.agedMs ?? 0) < happenedAt;
    return isOlder && createdAt > happenedAt - agedMs && isOfSameResource(sent, event);
  })?.event;
}

function isOfSameResource(sent: unknown, { type, data }: WebhookEvent): boolean {
  const id = propertyOf(data, 'id');
  const isSameEntity = entityOf(String(propertyOf(sent, 'type'))) === entityOf(type);
  return id !== undefined && isSameEntity && propertyOf(propertyOf(sent, 'data'), 'id') === id;
}
