import type { Mountable } from './mountable.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';

/**
 * Reports a delivery for another path once somebody else has answered 404. If nobody serves that path, the
 * delivery would be lost without a word.
 */
export function reportIfNotFound(
  receiver: Mountable,
  request: NodeRequest,
  response: NodeResponse,
  paths: { readonly requested: string; readonly served: string },
): void {
  if (request.method !== 'POST') return;
  response.once?.('finish', () => {
    if (response.statusCode === 404) receiver.reportMisdirected?.(request.rawHeaders, paths);
  });
}
