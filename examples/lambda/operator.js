// A function of AWS Lambda with the page of operators, behind a form that keeps the token of a person in a
// cookie. docs/operator-serverless.md says how to deploy it beside the one of template.yaml.

import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { getCookie, setCookie } from 'hono/cookie';
import { toOperator } from 'posthorn/operator';
import { receiver } from './receiver.js';

// Of `openssl rand -hex 32`, one for each person.
const tokens = { anna: process.env.ANNA_TOKEN, ben: process.env.BEN_TOKEN };
const digest = (text) => createHash('sha256').update(text).digest();

/** Returns the person whose token it is. */
function nameOf(given = '') {
  for (const [name, token] of Object.entries(tokens))
    if (token && timingSafeEqual(digest(given), digest(token))) return name;
  return undefined;
}

const form = `<!doctype html>
<html lang="en"><title>Sign in</title>
<form method="post" action="/operator/sign-in">
<label>Token <input type="password" name="token" autocomplete="current-password"></label> <button>Sign in</button>
</form></html>`;

const operator = toOperator(receiver, {
  path: '/operator',
  authorize: (_request, name) => ({ name }),
});
const app = new Hono();
app.post('/operator/sign-in', async (c) => {
  const { token } = await c.req.parseBody();
  if (typeof token === 'string' && nameOf(token) !== undefined)
    setCookie(c, 'operator', token, { prefix: 'host', secure: true, httpOnly: true, sameSite: 'Lax' });
  return c.redirect('/operator', 303);
});
app.all('/operator/*', (c) => {
  const name = nameOf(getCookie(c, 'operator', 'host'));
  return name === undefined ? c.html(form, 401) : operator(c.req.raw, name);
});
export const handler = handle(app);
