import { codeOf } from '../failure.ts';
import type { ReceiverModule } from '../receiver-module.ts';
import { CONNECTION_LIMIT_MS, repeat } from '../repeat.ts';

const UNCONNECTED: readonly unknown[] = ['dead_letters_unavailable', 'store_unavailable'];

/**
 * Waits for the connections of the module. A server has time to connect before its first delivery, but a
 * command begins at once, and a client that is not connected yet soon refuses it. Resolves once the dead
 * letters are reachable, with a receiver that waits for its store.
 */
export async function awaitConnections({ receiver, deadLetters }: ReceiverModule): Promise<ReceiverModule> {
  const endsAt = performance.now() + CONNECTION_LIMIT_MS;
  const isTooEarly = (error: unknown): boolean =>
    UNCONNECTED.includes(codeOf(error)) && performance.now() < endsAt;

  await repeat(async () => deadLetters?.get('any'), isTooEarly);
  return {
    deadLetters,
    receiver: {
      replay: (letter) =>
        repeat(
          () => receiver.replay(letter),
          isTooEarly,
          ({ error }) => error,
        ),
      drop: (letter) => repeat(() => receiver.drop(letter), isTooEarly),
      close: (options) => receiver.close(options),
    },
  };
}
