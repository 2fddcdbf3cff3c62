import type { IncomingMessage, RequestListener } from 'node:http';
import { userInfo } from 'node:os';
import { sendReply } from '../../../adapters/send-reply.ts';
import { type Operable, toNodeOperator } from '../../operator/index.ts';
import { ownAnswer } from './own-answers.ts';
import type { Session } from './session.ts';

/** Serves the page and the interface of operators to the browser of the session. */
export function createRequestListener(receiver: Operable, session: Session): RequestListener {
  const identity = { name: nameOfUser(), bodies: true };
  const operator = toNodeOperator<IncomingMessage>(receiver, {
    path: '/',
    authorize: (_request, request) => session.isOpenTo(request) && identity,
  });
  return (request, response) => {
    const answer = ownAnswer(request, session);
    if (answer === undefined) operator(request, response);
    else sendReply(request, response, { ...answer, close: true, drainMs: 0 });
  };
}

/** A container may run as a user whom its system does not know. */
function nameOfUser(): string {
  try {
    return userInfo().username || 'operator';
  } catch {
    return 'operator';
  }
}
