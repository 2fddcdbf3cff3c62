import { ConfigurationError, show } from './errors.ts';

/** Throws {@link ConfigurationError} for anything but an object with the given names. */
export function checkOptions(options: unknown, names: readonly string[], taker: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(`${taker} takes an object of options, got ${show(options)}`);
  }
  const unknownName = Object.keys(options).find((name) => !names.includes(name));
  if (unknownName === undefined) return;
  throw new ConfigurationError(
    `"${unknownName}" is no option of ${taker}; its options are ${names.join(', ')}`,
  );
}
