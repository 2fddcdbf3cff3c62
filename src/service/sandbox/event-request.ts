import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { EventType } from '../../providers/banking-service/catalog.ts';
import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { createSampleData } from '../shapes/sample-data.ts';
import { complaintsOf } from './complaints.ts';
import { checkDepth } from './json-depth.ts';
import { RefusedError } from './refused-error.ts';

/** A request to make an event happen at the service. */
export interface SendRequest {
  /** `<entity>.<type>`; those of the catalog are suggested, and services add others. */
  readonly type: EventType | (string & {});
  /** The resource; by default a sample whose state fits the type. Data that is given replaces all of it. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** The event's id; a new one by default. */
  readonly id?: string | undefined;
  /**
   * The number of copies that are sent beside each first delivery; 0 by default, 100 at most. Copies are not
   * retried.
   */
  readonly duplicates?: number | undefined;
  /**
   * True to change the body after it was signed, as an attacker on its way would: the receiver must refuse
   * it. Such a delivery is not retried. False by default.
   */
  readonly changed?: boolean | undefined;
  /**
   * The delay of the first delivery after the event, by the sandbox's clock; 0 by default. It reorders
   * events.
   */
  readonly delayMs?: number | undefined;
  /** The age of the event from the start: its `created_at` is that much earlier; 0 by default. */
  readonly ageMs?: number | undefined;
}

/** A checked request, and the event that it makes happen. */
export interface SentEvent {
  readonly event: WebhookEvent;
  readonly duplicates: number;
  readonly changed: boolean;
  readonly delayMs: number;
}

/** The longest step, delay and age: a hundred years. */
export const MAX_STEP_MS: number = 100 * 365 * 86_400_000;

function wholeNumber(most: number): z.ZodDefault<z.ZodInt> {
  const number = z.int('must be a whole number').min(0, 'must not be negative');
  return number.max(most, `must be ${most} at most`).default(0);
}

const schema = z.strictObject({
  type: z.string('must be <entity>.<type>').regex(/^[^.]+(\.[^.]+)+$/, 'must be <entity>.<type>'),
  data: z.record(z.string(), z.json(), 'must be an object of JSON values').optional(),
  id: z.string('must be a string').min(1, 'must not be empty').optional(),
  duplicates: wholeNumber(100),
  changed: z.boolean('must be true or false').default(false),
  delayMs: wholeNumber(MAX_STEP_MS),
  ageMs: wholeNumber(MAX_STEP_MS),
});

/** Checks a request; throws {@link RefusedError} that names the wrong member. */
export function readEventRequest(request: unknown, now: number): SentEvent {
  checkDepth(request);
  const { data: read, error } = schema.safeParse(request);
  if (error !== undefined) throw new RefusedError(400, 'Invalid event', complaintsOf(error));
  const { type, id = `evt_${randomUUID()}`, data, duplicates, changed, delayMs, ageMs } = read;
  const event = {
    type,
    id,
    created_at: new Date(now - ageMs).toISOString(),
    // The schema has copied it, so that later changes by the caller do not change a retry.
    data: data ?? createSampleData(type),
  };
  return { event, duplicates, changed, delayMs };
}
