import type { Delivery } from '../src/receiver/request/delivery.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { readRawBody } from './node-body.ts';
import { headersOf, isConnected, type NodeRequest, type NodeResponse } from './node-http.ts';
import { sendReply } from './send-reply.ts';
import { urlOf } from './served-path.ts';

/**
 * Answers a request of Node.js. `url` is its path and query, if the framework keeps them elsewhere. Rejects
 * if the methods of the response throw, which middleware may have replaced. Then no other answer is possible.
 */
export async function answer(
  receiver: Mountable,
  request: NodeRequest,
  response: NodeResponse,
  url?: string,
): Promise<void> {
  const reply = await receiver.receive(toDelivery(request, response, url));
  sendReply(request, response, reply);
}

/** Presents a request of Node.js as a delivery. */
export function toDelivery(
  request: NodeRequest,
  response: NodeResponse,
  url: string = urlOf(request),
): Delivery {
  // Another listener for 'data' starts the flow of the body, which would be lost before the receiver asks for
  // it.
  if (request.readableFlowing === true) request.pause();
  return {
    method: request.method ?? '',
    headers: headersOf(request),
    url,
    readBody: (options) => readRawBody(request, options),
    isConnected: () => isConnected(request, response),
  };
}
