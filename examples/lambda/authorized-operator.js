// A function of AWS Lambda with the page of operators, for an HTTP API whose authorizer knows the people. The
// name is the `email` of the context that a Lambda authorizer gives; only AWS writes into `requestContext`.

import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { toOperator } from 'posthorn/operator';
import { receiver } from './receiver.js';

const operator = toOperator(receiver, {
  path: '/operator',
  authorize: (_request, { requestContext }) => {
    const email = requestContext.authorizer?.lambda?.email;
    return email ? { name: email } : undefined;
  },
});
const app = new Hono();
app.all('/operator/*', (c) => operator(c.req.raw, c.env.event));
export const handler = handle(app);
