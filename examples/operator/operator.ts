// The interface of operators, for programs: each person has a token. A browser does not send one, so the page
// needs a session.

import { createHash, timingSafeEqual } from 'node:crypto';
import { type NodeOperatorHandler, toNodeOperator } from 'posthorn/operator';
import { receiver } from './receiver.ts';

// Never a credential of the webhook: the sender has that.
const tokens = { anna: process.env.ANNA_TOKEN, ben: process.env.BEN_TOKEN };

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

export const operator: NodeOperatorHandler = toNodeOperator(receiver, {
  path: '/operator',
  authorize: ({ headers }) => {
    const given = digest(headers.get('authorization') ?? '');
    for (const [name, token] of Object.entries(tokens))
      if (token && timingSafeEqual(given, digest(`Bearer ${token}`))) return { name };
    return undefined;
  },
});
