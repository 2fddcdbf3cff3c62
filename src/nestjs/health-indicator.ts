import type { Receiver } from '../receiver-interface.ts';

/** The health of a receiver under a key: a `HealthIndicatorResult` of `@nestjs/terminus`. */
export type ReceiverHealth<Key extends string> = Record<
  Key,
  {
    /** `down` while the receiver closes, and if its store does not answer. */
    readonly status: 'up' | 'down';
    /** The code of the store's error; undefined if it answers. */
    readonly code: string | undefined;
  }
>;

/**
 * Returns the health of a receiver as a result for `@nestjs/terminus` 11 or later, within 2 seconds. It has
 * no message and no address.
 *
 * @example
 * ```ts
 * import { receiverHealth } from 'posthorn/nestjs';
 *
 * this.health.check([() => receiverHealth(this.receiver, 'webhooks')]);
 * ```
 */
export async function receiverHealth<const Key extends string>(
  receiver: Pick<Receiver, 'health'>,
  key: Key,
): Promise<ReceiverHealth<Key>> {
  const { closing, store } = await receiver.health();
  const status = closing || !store.ok ? 'down' : 'up';
  const result: ReceiverHealth<string> = { [key]: { status, code: store.error?.code } };
  return result;
}
