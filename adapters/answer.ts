import type { Mountable } from './mountable.ts';
import { toDelivery } from './node-delivery.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';
import { sendReply } from './send-reply.ts';

/**
 * Answers a request of Node.js. Rejects if the methods of the response throw, which
 * middleware may have replaced: then no other answer is possible.
 */
export async function answer(
  receiver: Mountable,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  const reply = await receiver.receive(toDelivery(request, response));
  sendReply(request, response, reply);
}
