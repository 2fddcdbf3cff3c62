import { inspect } from 'node:util';
import { type Client, type ClientOptions, createClient } from 'posthorn/client';
import { expect } from 'vitest';
import { WAIT_LIMIT_MS } from '../../support/limits.ts';

/** Everything that must never show. */
export const JWT = 'eyJhbGciOi.literal.jwt';
export const API_KEY = 'literal-api-key';
export const ACCESS_TOKEN = 'literal-access-token';
export const USERNAME = 'the-admin';
export const PASSWORD = 'literal:pässword';
/** Made with: printf 'the-admin:literal:pässword' | base64 */
export const BASIC = 'dGhlLWFkbWluOmxpdGVyYWw6cMOkc3N3b3Jk';
export const SIGNING_KEY = 'whsec_literal_signing_key';
export const WEBHOOK_PASSWORD = 'literal-webhook-password';
export const WEBHOOK_TOKEN = 'literal-webhook-token';

const secrets = [JWT, API_KEY, ACCESS_TOKEN, PASSWORD, BASIC, SIGNING_KEY, WEBHOOK_PASSWORD, WEBHOOK_TOKEN];

/** A client with every credential and ample time, and with what else a test wants. */
export function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  return createClient({
    baseUrl,
    banking: { token: JWT, apiKey: API_KEY },
    profile: { accessToken: ACCESS_TOKEN },
    administrator: { username: USERNAME, password: PASSWORD },
    timeoutMs: WAIT_LIMIT_MS,
    ...options,
  });
}

/** What the call throws or rejects with; fails if a secret shows in it, or if nothing is thrown. */
export async function failureOf(call: () => unknown): Promise<unknown> {
  let result: unknown;
  try {
    result = await call();
  } catch (error) {
    expectNoSecret(error);
    return error;
  }
  throw new Error(`nothing was thrown; the result is ${inspect(result)}`);
}

export function expectNoSecret(value: unknown): void {
  const stack = value instanceof Error ? (value.stack ?? '') : '';
  const shown = `${inspect(value, { depth: 10, showHidden: true })}\n${JSON.stringify(value)}\n${stack}`;
  for (const secret of secrets) expect(shown).not.toContain(secret);
}
