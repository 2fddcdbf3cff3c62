import { quote } from './quote.ts';

// The words of a printed command, for a shell.

/** An option without a value, if it is set. */
export function flag(name: string, isSet: boolean | undefined): readonly string[] {
  return isSet ? [`--${name}`] : [];
}

/** An option with its value, if it has one. */
export function valued(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [`--${name}`, quote(value)];
}
