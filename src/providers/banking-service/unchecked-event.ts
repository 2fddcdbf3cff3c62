import { propertyOf, textOf } from '../../receiver/values/foreign-values.ts';

/** As much of an event as could be read without any check. */
interface UncheckedEvent {
  readonly id: string | undefined;
  readonly type: string | undefined;
  /** In milliseconds since the epoch; undefined if it could not be read. */
  readonly createdAtMs: number | undefined;
}

/** Reads an authentic body without the code of its check, which threw an error of its own. Never throws. */
export function readUnchecked(rawBody: Uint8Array): UncheckedEvent {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(rawBody).toString());
  } catch {
    // Nothing of it can be read.
  }
  const createdAtMs = Date.parse(textOf(propertyOf(value, 'created_at')) ?? '');
  return {
    id: textOf(propertyOf(value, 'id')),
    type: textOf(propertyOf(value, 'type')),
    createdAtMs: Number.isNaN(createdAtMs) ? undefined : createdAtMs,
  };
}
