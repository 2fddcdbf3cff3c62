import { checkReceiver, type Mountable } from './mountable.ts';
import { type NodeHandler, toNode } from './node.ts';

/**
 * Mounts a receiver on Express 4 or 5, before `express.json()` or after `express.raw()`.
 *
 * @throws ConfigurationError for what is no receiver.
 *
 * @example
 * ```ts
 * app.all('/webhooks', toExpress(receiver));
 * app.use(express.json());
 * ```
 */
export function toExpress(receiver: Mountable): NodeHandler {
  checkReceiver(receiver, 'toExpress');
  return toNode(receiver);
}
