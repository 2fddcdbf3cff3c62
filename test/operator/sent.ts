import type { Receiver, Reply } from 'posthorn';
import { deliveryOf } from '../support/delivery-of.ts';
import { bodyOf } from './operated.ts';

/** Delivers an event of this id, without a socket. */
export function deliver(
  receiver: Receiver,
  id: string,
  headers?: Readonly<Record<string, readonly string[]>>,
): Promise<Reply> {
  return receiver.receive(deliveryOf(bodyOf(id), headers));
}
