// The page and the interface of operators, under /operator. Browsers ask for the name `operator`, and for
// OPERATOR_TOKEN as the password: never give it to those who have a credential of the webhook.

import { toOperator } from 'posthorn/operator';
import { type Env, getReceiver } from './receiver';

let operator: ReturnType<typeof create> | undefined;

export async function serveOperators(request: Request, env: Env): Promise<Response> {
  operator ??= create(env);
  const isKnown = await hasPassword(request.headers, env.OPERATOR_TOKEN);
  if (!isKnown && env.OPERATOR_TOKEN) return askForPassword();
  return operator(request, isKnown);
}

function create(env: Env) {
  return toOperator(getReceiver(env).receiver, {
    path: '/operator',
    authorize: (_request, isKnown: boolean) => isKnown && { name: 'on call', bodies: true },
  });
}

function askForPassword(): Response {
  const headers = { 'www-authenticate': 'Basic realm="operators", charset="UTF-8"' };
  return new Response('a name and a password are needed', { status: 401, headers });
}

/** Compares digests, because a comparison in constant time needs values of one length. */
async function hasPassword(headers: Headers, password: string | undefined): Promise<boolean> {
  if (!password) return false;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const digest = (text: string) => crypto.subtle.digest('SHA-256', bytes(text));
  const expected = btoa(String.fromCharCode(...bytes(`operator:${password}`)));
  const given = await digest(headers.get('authorization') ?? '');
  return crypto.subtle.timingSafeEqual(given, await digest(`Basic ${expected}`));
}
