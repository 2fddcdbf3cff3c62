import { EventError } from '../../receiver/errors.ts';
import type { ProviderRequest } from '../../receiver/provider/provider.ts';
import type { SingleHeaders } from '../../receiver/request/single-headers.ts';
import { propertyOf, textOf } from '../../receiver/values/foreign-values.ts';
import { isForm } from '../is-form.ts';
import { decodeUtf8, isJsonObject } from '../parse-json.ts';
import type { GitHubEvent } from './event.ts';

/**
 * Reads an event: its id and its name are headers, and its action is a member of the payload. The payload is
 * as GitHub documents it in `E`. Throws {@link EventError} with the id, if it was sent.
 */
export function readDelivery<E extends GitHubEvent<string, object>>({
  rawBody,
  headers,
}: ProviderRequest): E {
  const id = textOf(headers.get('x-github-delivery'));
  const name = textOf(headers.get('x-github-event'));
  if (id === undefined || name === undefined) {
    const missing = id === undefined ? 'x-github-delivery' : 'x-github-event';
    throw new EventError('envelope_invalid', `the header "${missing}" is missing`, { id });
  }
  const payload = parsePayload(rawBody, headers, id);
  const action = textOf(propertyOf(payload, 'action'));
  const event = { id, name, type: action === undefined ? name : `${name}.${action}`, payload };
  if (hasObjectPayload<E>(event)) return event;
  throw new EventError('envelope_invalid', 'the payload must be an object', { id, type: name });
}

/** The members of the payload are as GitHub documents them. */
function hasObjectPayload<E extends GitHubEvent<string, object>>(event: {
  readonly payload: unknown;
}): event is E {
  return isJsonObject(event.payload);
}

/**
 * Parses a payload, which is the body, or a field of it
 * (https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks).
 */
function parsePayload(rawBody: Uint8Array, headers: SingleHeaders, id: string): unknown {
  const isEncoded = isForm(headers);
  try {
    const text = decodeUtf8(rawBody);
    return JSON.parse(isEncoded ? fieldOf(text) : text);
  } catch (cause) {
    throw new EventError(
      'body_not_json',
      'the body is neither JSON in strict UTF-8 nor a form whose field "payload" is: in the settings of the ' +
        'webhook, set the content type to application/json',
      { id },
      { cause },
    );
  }
}

/** Returns the field `payload` of a form. Unlike URLSearchParams, throws for bytes that are not UTF-8. */
function fieldOf(form: string): string {
  const field = form.split('&').find((each) => each.startsWith('payload='));
  if (field === undefined) throw new SyntaxError('the form has no field "payload"');
  return decodeURIComponent(field.slice('payload='.length).replaceAll('+', ' '));
}
