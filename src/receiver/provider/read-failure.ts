import { isError } from '../values/foreign-values.ts';
import type { EventMembers } from './event-identity.ts';

const NAME = 'posthorn.ReadFailure';

/**
 * Thrown by `readEvent` if code of posthorn itself failed, so that the event is not refused for it. It has as
 * much of the event as could be read without that code.
 */
export class ReadFailure extends Error {
  /** It tells the error of another copy of this package: the provider may come from the other build. */
  override readonly name: string = NAME;
  readonly event: EventMembers;
  /** In milliseconds since the epoch; undefined if it could not be read. */
  readonly createdAtMs: number | undefined;

  constructor(cause: unknown, event: EventMembers, createdAtMs: number | undefined) {
    super('the event could not be read', { cause });
    this.event = event;
    this.createdAtMs = createdAtMs;
  }
}

/** Returns true for a {@link ReadFailure} of any copy of this package. */
export function isReadFailure(value: unknown): value is ReadFailure {
  return isError(value) && value.name === NAME;
}
