import { EventError } from '../errors.ts';
import { isTimeMs } from '../events/age.ts';
import { dropPromise, isInstance, messageOf, show, textOf } from '../values/foreign-values.ts';
import type { CheckedProvider } from './checked-provider.ts';
import { toHandshakeReply } from './handshake-reply.ts';
import type { Provider, ReadEvent } from './provider.ts';
import { isReadFailure } from './read-failure.ts';

/** Wraps `readEvent` of a provider: all that it throws says that the body is not an event. */
export function checkedReader({ name, readEvent }: Provider): CheckedProvider['readEvent'] {
  return (request) => {
    try {
      return checkRead(readEvent(request));
    } catch (error) {
      if (isReadFailure(error) || isInstance(error, EventError)) throw error;
      const message = `the body is not an event of ${name}: ${messageOf(error)}`;
      throw new EventError('envelope_invalid', message, {}, { cause: error });
    }
  };
}

/** Checks what `readEvent` of a provider returned. */
function checkRead(read: ReadEvent): ReadEvent {
  // A function that is async by mistake returns a promise, and one that rejects would end the process.
  if (dropPromise(read)) throw new TypeError('readEvent of the provider returned a promise');
  const { id, type, createdAtMs, event } = read;
  if (textOf(id) === undefined) throw new TypeError(`its id must be a text, got ${show(id)}`);
  // Types are compared, and never a key, so a lone surrogate does no harm.
  if (typeof type !== 'string' || type === '')
    throw new TypeError(`its type must be a text, got ${show(type)}`);
  if (createdAtMs !== undefined && !isTimeMs(createdAtMs))
    throw new TypeError(`its time must be a number of milliseconds, got ${show(createdAtMs)}`);
  if (typeof event !== 'object' || event === null) throw new TypeError('it must be an object');
  return read;
}

/** Wraps `handshake` of a provider. If it throws, the body is refused as `envelope_invalid`. */
export function checkedHandshake(
  handshake: NonNullable<Provider['handshake']>,
): CheckedProvider['handshake'] {
  return (request) => {
    let result: string | object | undefined;
    try {
      result = handshake(request);
    } catch (cause) {
      const message = `handshake of the provider failed: ${messageOf(cause)}`;
      throw new EventError('envelope_invalid', message, {}, { cause });
    }
    return result === undefined ? undefined : toHandshakeReply(result);
  };
}
