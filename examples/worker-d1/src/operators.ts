// The interface of operators, under /operator, for people with the token OPERATOR_TOKEN: never for those who
// have a credential of the webhook.

import { toOperator } from 'posthorn/operator';
import { type Env, getReceiver } from './receiver';

let operator: ReturnType<typeof create> | undefined;

export function serveOperators(request: Request, env: Env): Promise<Response> {
  operator ??= create(env);
  return operator(request);
}

function create(env: Env) {
  return toOperator(getReceiver(env).receiver, {
    path: '/operator',
    authorize: async ({ headers }) =>
      (await hasToken(headers, env.OPERATOR_TOKEN)) && { name: 'on call', bodies: true },
  });
}

/** Compares digests, because a comparison in constant time needs values of one length. */
async function hasToken(headers: Headers, token: string | undefined): Promise<boolean> {
  if (!token) return false;
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const given = await digest(headers.get('authorization') ?? '');
  return crypto.subtle.timingSafeEqual(given, await digest(`Bearer ${token}`));
}
