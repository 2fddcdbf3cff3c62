import { checkOptions, checkReceiver } from '../src/receiver/checks/check-options.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { type NodeHandler, type NodeOptions, toNode } from './node.ts';

/**
 * Mounts a receiver on Express 4 or 5, before `express.json()` or after `express.raw()`. With the option
 * `path` it sees the deliveries for other paths, and reports those that get 404. As the handler of a route it
 * does not need the option, and sees the deliveries of that route only.
 *
 * @throws ConfigurationError for a wrong option, or for a value that is not a receiver.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { toExpress } from 'posthorn/express';
 *
 * app.use(toExpress(receiver, { path: '/webhooks' }));
 * app.use(express.json());
 * ```
 */
export function toExpress(receiver: Mountable, options: NodeOptions = {}): NodeHandler {
  checkReceiver(receiver, 'toExpress', ['receive']);
  checkOptions(options, ['path'], 'toExpress');
  return toNode(receiver, options);
}
