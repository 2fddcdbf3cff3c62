import type { HandlerContext } from '../receiver/handling/handlers/route.ts';
import type { Delivery } from '../receiver/request/delivery.ts';
import { readHeaders } from '../receiver/request/headers.ts';
import { messageOf, propertyOf } from '../receiver/values/foreign-values.ts';
import { discardBody } from '../service/shapes/answer-body.ts';
import { addressOf } from './options.ts';

/** Posts a delivery to another address, unchanged. Rejects unless the answer is 2xx. */
export async function forwardTo(
  url: URL,
  { rawBody, signal }: Pick<HandlerContext, 'rawBody' | 'signal'>,
  headers: Delivery['headers'],
): Promise<void> {
  const body = new Uint8Array(rawBody);
  // To the service a redirect is not a 2xx, so it must not become one here.
  const request = { method: 'POST', headers: endToEnd(headers), body, signal, redirect: 'manual' } as const;
  const response = await fetch(url, request).catch((cause: unknown) => {
    throw new Error(`${addressOf(url)} cannot be reached: ${reasonOf(cause)}`, { cause });
  });
  discardBody(response);
  if (!response.ok) throw new Error(`${addressOf(url)} answered ${response.status}`);
}

/**
 * Headers of one connection (RFC 9110, section 7.6.1, and those that RFC 2616 listed), or set anew for the
 * next one.
 */
const NOT_PASSED_ON: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
];

function endToEnd(fields: Delivery['headers']): Headers {
  const values = readHeaders(fields);
  // A pattern with white space around the comma would take quadratic time for a value of spaces.
  const named = (values.connection ?? []).flatMap((value) => value.toLowerCase().split(','));
  const dropped = new Set([...NOT_PASSED_ON, ...named.map((name) => name.trim())]);
  const headers = new Headers();
  for (const [name, list = []] of Object.entries(values)) {
    if (dropped.has(name)) continue;
    for (const value of list) headers.append(name, value);
  }
  return headers;
}

/** The reason behind the "fetch failed" of fetch. */
export function reasonOf(error: unknown): string {
  return messageOf(propertyOf(error, 'cause') ?? error);
}
