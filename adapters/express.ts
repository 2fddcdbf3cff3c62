import { checkReceiver } from '../src/check-options.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { type NodeHandler, toNode } from './node.ts';

/**
 * Mounts a receiver on Express 4 or 5, before `express.json()` or after `express.raw()`.
 *
 * @throws ConfigurationError for a value that is not a receiver.
 *
 * @example
 * ```ts
 * app.all('/webhooks', toExpress(receiver));
 * app.use(express.json());
 * ```
 */
export function toExpress(receiver: Mountable): NodeHandler {
  checkReceiver(receiver, 'toExpress', ['receive']);
  return toNode(receiver);
}
