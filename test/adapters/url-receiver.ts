import type { Delivery } from 'posthorn';
import type { Mountable } from './endpoint.ts';

/** A receiver that answers each delivery 200, and keeps it. */
export function createUrlReceiver(): { readonly receiver: Mountable; readonly deliveries: Delivery[] } {
  const deliveries: Delivery[] = [];
  const receiver: Mountable = {
    receive: async (delivery) => {
      deliveries.push(delivery);
      return { status: 200, headers: {}, body: '{}', close: false, drainMs: 0 };
    },
  };
  return { receiver, deliveries };
}
