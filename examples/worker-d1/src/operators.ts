// The dead letters, for people with the token OPERATOR_TOKEN, not a credential of the webhook:
// GET /dead-letters?after=… lists some, GET /dead-letters?id=… shows one, POST replays it, DELETE drops it.

import { type DeadLetter, PosthornError } from 'posthorn';
import { readPortion } from './portion';
import { type Env, getReceiver } from './receiver';

export async function serveOperators(request: Request, env: Env): Promise<Response> {
  if (!env.OPERATOR_TOKEN) return new Response('not found', { status: 404 });
  if (!(await hasToken(request, env.OPERATOR_TOKEN))) {
    const message = 'send the header `authorization: Bearer …` with OPERATOR_TOKEN';
    return failure(401, 'token_invalid', message, { 'www-authenticate': 'Bearer' });
  }
  try {
    return await answer(request, getReceiver(env));
  } catch (error) {
    console.error(error);
    if (!(error instanceof PosthornError)) return failure(500, 'internal_error', 'the log has the error');
    const canRetry = error.code !== 'dead_letter_unreadable';
    return failure(canRetry ? 503 : 500, error.code, error.message);
  }
}

/** Compares digests, because a comparison in constant time needs values of one length. */
async function hasToken(request: Request, token: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const given = await digest(request.headers.get('authorization') ?? '');
  return crypto.subtle.timingSafeEqual(given, await digest(`Bearer ${token}`));
}

async function answer(
  { method, url }: Request,
  { receiver, deadLetters }: ReturnType<typeof getReceiver>,
): Promise<Response> {
  const { searchParams } = new URL(url);
  const id = searchParams.get('id');
  if (id === null) {
    if (method !== 'GET') return failure(400, 'id_missing', 'name a dead letter: ?id=…');
    const portion = { after: searchParams.get('after'), limit: 10 };
    const { found, ...rest } = await readPortion(deadLetters, portion);
    return Response.json({ deadLetters: found.map(summaryOf), ...rest });
  }
  const deadLetter = await deadLetters.get(id);
  if (deadLetter === undefined) return failure(404, 'dead_letter_not_found', 'it was replayed or dropped');
  if (method === 'GET') {
    const body = new TextDecoder().decode(deadLetter.rawBody);
    return Response.json({ ...summaryOf(deadLetter), headers: deadLetter.headers, body });
  }
  if (method === 'POST') {
    const { outcome, code, error } = await receiver.replay(deadLetter);
    const isHandled = outcome === 'processed' || outcome === 'duplicate';
    return Response.json({ outcome, code, message: error?.message }, { status: isHandled ? 200 : 409 });
  }
  if (method !== 'DELETE') return failure(405, 'method_not_allowed', 'send GET, POST or DELETE');
  const dropped = await receiver.drop(deadLetter);
  return Response.json({ dropped }, { status: dropped ? 200 : 409 });
}

function summaryOf({ id, type, reason, message, attempts, parkedAt, lastTriedAt }: DeadLetter) {
  const at = (time?: number) => (time === undefined ? undefined : new Date(time).toISOString());
  return { id, type, reason, message, attempts, parkedAt: at(parkedAt), lastTriedAt: at(lastTriedAt) };
}

function failure(status: number, code: string, message: string, headers?: HeadersInit): Response {
  return Response.json({ code, message }, { status, headers });
}
