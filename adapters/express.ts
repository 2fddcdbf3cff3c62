import type { Receiver } from '../src/receiver.ts';
import { type NodeHandler, toNode } from './node.ts';

/**
 * Mounts a receiver on Express 4 or 5, before `express.json()` or after `express.raw()`.
 *
 * @example
 * ```ts
 * app.all('/webhooks', toExpress(receiver));
 * app.use(express.json());
 * ```
 */
export function toExpress(receiver: Pick<Receiver, 'receive'>): NodeHandler {
  return toNode(receiver);
}
