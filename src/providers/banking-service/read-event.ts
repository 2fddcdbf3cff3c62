import { MismatchError } from '../../receiver/checks/parse-with-schema.ts';
import { EventError } from '../../receiver/errors.ts';
import type { ProviderRequest, ReadEvent } from '../../receiver/provider/provider.ts';
import { ReadFailure } from '../../receiver/provider/read-failure.ts';
import { isInstance, messageOf, propertyOf, textOf } from '../../receiver/values/foreign-values.ts';
import { parseTimeInParts } from '../iso-time.ts';
import { parseJson } from '../parse-json.ts';
import { checkEnvelope, readableMembers } from './envelope.ts';
import type { WebhookEvent } from './event.ts';
import { readUnchecked } from './unchecked-event.ts';

/**
 * Reads the event in an authentic body (interface, "Webhook event"). The event is the value of `JSON.parse`
 * itself. Throws EventError for a body that is not an event. After an error of the code below, the event
 * must not be refused for good: ReadFailure says as much of it as can be read without that code.
 */
export function readEvent<E extends WebhookEvent>({ rawBody }: ProviderRequest): ReadEvent<E> {
  try {
    const event = parseEvent<E>(rawBody);
    const { created_at: createdAt, data, id, type } = event;
    const resource = textOf(propertyOf(data, 'id'));
    return { id, type, createdAtMs: parseTimeInParts(createdAt), createdAt, resource, event };
  } catch (error) {
    if (isInstance(error, EventError)) throw error;
    const { id, type, createdAtMs } = readUnchecked(rawBody);
    throw new ReadFailure(error, { id, type }, createdAtMs);
  }
}

/** `E` names the types that are known; wildcards also get events of other types. */
function parseEvent<E extends WebhookEvent>(rawBody: Uint8Array): E {
  const value = parseJson(rawBody);
  try {
    checkEnvelope<E>(value);
    return value;
  } catch (cause) {
    if (!(cause instanceof MismatchError)) throw cause;
    throw new EventError(
      'envelope_invalid',
      `the body is not an event: ${messageOf(cause)}`,
      readableMembers(value),
    );
  }
}
