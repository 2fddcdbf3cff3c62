import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import { createEvent } from '../create-event.ts';
import { signedHeaders } from '../signed-headers.ts';

export const KEY = 'the-signing-key-of-this-endpoint';
export const USERNAME = 'hook-user';
export const PASSWORD = 'hook-password';
export const TOKEN = 'hook-bearer-token';
export const HANDLER_MESSAGE = 'what-a-handler-threw';
export const BASIC: Extract<Authentication, { type: 'BASIC' }> = {
  type: 'BASIC',
  basic: { username: USERNAME, password: PASSWORD },
};
export const BEARER: Extract<Authentication, { type: 'BEARER' }> = {
  type: 'BEARER',
  bearer: { token: TOKEN },
};

export function transfer(): WebhookEvent {
  return createEvent('transfer.succeeded');
}

/** A body, and the headers that the service would send with it. */
export interface SignedBody {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** The body of an event, and its headers. */
export function signed(
  event: object = transfer(),
  authentication: Authentication = { type: 'NONE' },
): SignedBody {
  const body = JSON.stringify(event);
  return { body, headers: signedHeaders(body, { key: KEY, authentication }) };
}
