import { ConfigurationError } from '../src/errors.ts';
import { propertyOf, typeNameOf } from '../src/foreign-values.ts';
import type { Receiver } from '../src/receiver-interface.ts';

/** The part of a receiver that an adapter uses. */
export type Mountable = Pick<Receiver, 'receive'> & Partial<Pick<Receiver, 'reportMisdirected'>>;

/** Throws {@link ConfigurationError} for what is no receiver. */
export function checkReceiver(receiver: Mountable, functionName: string): void {
  if (typeof propertyOf(receiver, 'receive') === 'function') return;
  throw new ConfigurationError(
    `${functionName} takes a receiver, which createReceiver returns; got ${typeNameOf(receiver)}`,
  );
}
