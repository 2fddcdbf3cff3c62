import { RequestError } from '../errors.ts';

/** The longest body that is accepted, and the sender that may send longer ones. */
export interface SizeLimit {
  readonly maxBodyBytes: number;
  readonly provider: {
    readonly name: string;
    /** The longest body that it sends; undefined if that is not known. */
    readonly maxBodyBytes: number | undefined;
  };
}

/** Throws {@link RequestError} for a body that is too long. If the sender sends such bodies, it says so. */
export function checkBodySize(length: number, { maxBodyBytes, provider }: SizeLimit): void {
  if (length <= maxBodyBytes) return;
  const longest = provider.maxBodyBytes ?? 0;
  const loss =
    length <= longest
      ? `; ${provider.name} sends bodies up to ${longest} bytes: raise maxBodyBytes, or such events are lost`
      : '';
  throw new RequestError(
    'body_too_large',
    `the body has ${length} bytes; maxBodyBytes is ${maxBodyBytes}${loss}`,
  );
}
