import type { Delivery } from '../src/request/delivery.ts';
import { isConnected, type NodeRequest, type NodeResponse } from './node-http.ts';
import { readRawBody } from './raw-body.ts';

/** Presents a request of Node.js as a delivery. */
export function toDelivery(request: NodeRequest, response: NodeResponse): Delivery {
  // Another listener for 'data' starts the flow of the body, which would
  // be lost before the receiver asks for it.
  if (request.readableFlowing === true) request.pause();
  return {
    method: request.method ?? '',
    // `headers` drops a repeated `authorization`, and HTTP/2 has no `headersDistinct`.
    headers: request.rawHeaders,
    readBody: (options) => readRawBody(request, options),
    isConnected: () => isConnected(request, response),
  };
}
