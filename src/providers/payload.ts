import { EventError } from '../receiver/errors.ts';
import { textOf } from '../receiver/values/foreign-values.ts';
import { isJsonObject, parseJson } from './parse-json.ts';

/** The least that an event in a payload has. */
export interface IdentifiedEvent {
  /** The sender's id of the event. */
  readonly id: string;
  /** The type that patterns match. */
  readonly type: string;
}

/**
 * Reads an event whose id and type are members of the body, or come from a header. Both must be texts; the
 * other members are as the sender documents them in `E`. Throws {@link EventError} with the members that
 * could be read, so that a dead letter has the id.
 */
export function readPayload<E extends IdentifiedEvent>(
  rawBody: Uint8Array,
  fromHeaders: Partial<IdentifiedEvent> = {},
): E {
  const value = parseJson(rawBody, fromHeaders);
  const isObject = isJsonObject(value);
  const payload: Readonly<Record<string, unknown>> = { ...(isObject && value), ...fromHeaders };
  if (isObject && hasMembers<E>(payload)) return payload;
  const members = { id: textOf(payload.id), type: textOf(payload.type) };
  const missing = Object.entries(members).flatMap(([name, text]) => (text === undefined ? [name] : []));
  const problem = isObject
    ? `${missing.join(' and ')} must be a text that is not empty`
    : 'it must be an object';
  throw new EventError('envelope_invalid', `the body is not an event: ${problem}`, members);
}

function hasMembers<E extends IdentifiedEvent>(payload: object): payload is E {
  return (
    'id' in payload &&
    textOf(payload.id) !== undefined &&
    'type' in payload &&
    textOf(payload.type) !== undefined
  );
}
