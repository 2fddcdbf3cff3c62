import { propertyOf } from '../values/foreign-values.ts';

/** As much of an event as could be read without any check. */
interface UncheckedEvent {
  readonly id: string | undefined;
  readonly type: string | undefined;
  /** In milliseconds since the epoch; NaN if it could not be read. */
  readonly createdAt: number;
}

/** Reads an authentic body without the code of its check, which threw an error of its own. Never throws. */
export function readUnchecked(rawBody: Uint8Array): UncheckedEvent {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(rawBody).toString());
  } catch {
    // Nothing of it can be read.
  }
  return {
    id: textOf(value, 'id'),
    type: textOf(value, 'type'),
    createdAt: Date.parse(textOf(value, 'created_at') ?? ''),
  };
}

function textOf(value: unknown, name: string): string | undefined {
  const text = propertyOf(value, name);
  return typeof text === 'string' && text !== '' && text.isWellFormed() ? text : undefined;
}
