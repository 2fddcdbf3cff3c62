import { once } from 'node:events';
import { request } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Receiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { listenUntilTheEnd } from './listen.ts';

export const KEY = 'whsec_of_the_tests';

/** Serves a receiver on a free port until the test ends; resolves with its address. */
export async function serve(receiver: Pick<Receiver, 'receive'>): Promise<string> {
  return `${await listenUntilTheEnd(toNode(receiver))}/webhooks`;
}

/**
 * Posts a body with header lines that `fetch` would merge: a list of values is sent as a line each. Over
 * HTTPS any certificate will do.
 */
export async function post(
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string | string[]>,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const send = url.startsWith('https:') ? requestOverTls : request;
  const outgoing = send(url, { method: 'POST', headers, agent: false, rejectUnauthorized: false });
  const answered = once(outgoing, 'response');
  outgoing.end(body);
  const [incoming] = await answered;
  return { status: incoming.statusCode, body: await text(incoming) };
}
