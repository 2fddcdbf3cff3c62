import * as z from 'zod/mini';
import { parseWithSchema } from '../../receiver/checks/parse-with-schema.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { isTime } from '../iso-time.ts';
import type { WebhookEvent } from './event.ts';
import type { EventData } from './event-data.ts';

// Lone surrogates all become the same character in UTF-8, so two
// different ids could share a key or a file name.
const id = z.string().check(
  z.minLength(1, 'must not be empty'),
  z.refine((text) => text.isWellFormed(), 'must be well-formed Unicode'),
);
const type = z.string().check(z.regex(/^[^.]+(\.[^.]+)+$/, 'must be <entity>.<type>'));

// "ISO 8601 UTC" (interface): other offsets are accepted too, and a missing one means UTC.
const createdAt = z.string().check(z.refine(isTime, 'must be a time in ISO 8601, as 2026-03-31T09:05:00Z'));

const data = z.custom<EventData>(isObject, 'must be an object');

/** The members of every event. An event may have others. */
export const envelope: z.ZodMiniObject<{
  id: z.ZodMiniString;
  type: z.ZodMiniString;
  created_at: z.ZodMiniString;
  data: z.ZodMiniType<EventData>;
}> = z.object({ id, type, created_at: createdAt, data });

/** Throws an error that names each missing or wrong member, unless a value has all members of an event. */
export function checkEnvelope<E extends WebhookEvent>(value: unknown): asserts value is E {
  if (!hasMembers(value)) parseWithSchema(envelope, value, 'body');
}

/** Asks the schema of each member: the whole schema copies the members, and takes twice the time. */
function hasMembers(value: unknown): boolean {
  return (
    isObject(value) &&
    z.validate(id, value.id) &&
    z.validate(type, value.type) &&
    z.validate(createdAt, value.created_at) &&
    isObject(value.data)
  );
}

/** The id and the type of a value, each only if an event could have it. Never throws. */
export function readableMembers(value: unknown): { readonly id?: string; readonly type?: string } {
  const parts = { id: propertyOf(value, 'id'), type: propertyOf(value, 'type') };
  return {
    ...(z.validate(id, parts.id) && { id: parts.id }),
    ...(z.validate(type, parts.type) && { type: parts.type }),
  };
}

function isObject(value: unknown): value is EventData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
