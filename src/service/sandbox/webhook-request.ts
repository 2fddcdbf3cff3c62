import * as z from 'zod';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import { eventFilters, type StoredEventFilter } from '../shapes/webhooks.ts';
import { complaintsOf } from './complaints.ts';
import { findUnknown } from './event-filter.ts';
import { isLoopback } from './host.ts';
import { RefusedError } from './refused-error.ts';
import type { WebhookMembers } from './webhooks.ts';

const object = z.record(z.string(), z.unknown());

/** Reads the request of a creation; throws {@link RefusedError} in the service's words. */
export function readCreation(body: unknown): WebhookMembers {
  const { url, authentication = { type: 'NONE' }, enabled_events = [] } = readBody(body);
  return {
    url: readUrl(url),
    enabled: true,
    authentication: readAuthentication(authentication),
    enabled_events: readEnabledEvents(enabled_events),
  };
}

/**
 * Reads the request of an update: only the members that were sent. Members that cannot be updated are
 * ignored.
 */
export function readUpdate(body: unknown): Partial<WebhookMembers> {
  const { url, enabled, authentication, enabled_events } = readBody(body);
  return {
    ...(url !== undefined && { url: readUrl(url) }),
    ...(enabled !== undefined && { enabled: readEnabled(enabled) }),
    ...(authentication !== undefined && { authentication: readAuthentication(authentication) }),
    ...(enabled_events !== undefined && { enabled_events: readEnabledEvents(enabled_events) }),
  };
}

function readBody(body: unknown): Record<string, unknown> {
  const { data, success } = object.safeParse(body);
  if (!success) throw new RefusedError(400, 'Invalid request', 'the body must be a JSON object');
  return data;
}

/** Reads a URL of HTTPS, or of `http:` to this machine, where nobody can listen in. */
function readUrl(value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === undefined || !isAllowed)
    throw new RefusedError(400, 'Invalid URL', 'URL must use the HTTPS protocol');
  // They would be sent whatever `authentication` says, and every log of the url would show them.
  if (url.username !== '' || url.password !== '')
    throw new RefusedError(400, 'Invalid URL', 'URL must not contain credentials: use authentication');
  return String(value);
}

function readEnabled(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new RefusedError(400, 'Invalid enabled', 'enabled must be true or false');
}

function readEnabledEvents(value: unknown): readonly StoredEventFilter[] {
  const { data, error } = eventFilters.safeParse(value);
  const complaint = error === undefined ? findUnknown(data) : complaintsOf(error);
  if (data === undefined || complaint !== undefined)
    throw new RefusedError(400, 'Invalid enabled_events', complaint);
  return data.map(({ entity, types }) => ({ entity, types }));
}

const credentials = z.object({ username: z.string().min(1), password: z.string().min(1) });
const basicForm = z.object({ type: z.literal('BASIC'), basic: credentials });
const bearerForm = z.object({
  type: z.literal('BEARER'),
  bearer: z.object({ token: z.string().min(1) }),
});

function readAuthentication(value: unknown): Authentication {
  const { data: { type } = {} } = object.safeParse(value);
  switch (type) {
    case 'NONE':
      return { type };
    case 'BASIC':
      return readBasic(value);
    case 'BEARER':
      return readBearer(value);
    default:
      throw invalidAuthentication('type must be NONE, BASIC or BEARER');
  }
}

/** RFC 7617, section 2: no colon in the user-id, no control characters in either. */
function readBasic(value: unknown): Authentication {
  const { data } = basicForm.safeParse(value);
  if (data === undefined) throw invalidAuthentication('Basic authentication requires username and password');
  const { username, password } = data.basic;
  if (!/[:\p{Cc}]/u.test(username) && !/\p{Cc}/u.test(password)) return data;
  throw invalidAuthentication('username must not contain ":", and neither part control characters');
}

/** Refuses a token that could not be sent in a header. */
function readBearer(value: unknown): Authentication {
  const { data } = bearerForm.safeParse(value);
  if (data === undefined) throw invalidAuthentication('Bearer authentication requires token');
  if (/^[\x21-\x7e]+$/.test(data.bearer.token)) return data;
  throw invalidAuthentication('token must be printable ASCII without spaces');
}

function invalidAuthentication(details: string): RefusedError {
  return new RefusedError(400, 'Invalid authentication configuration', details);
}
