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
export function checkBodySize(length: number, limit: SizeLimit): void {
  if (length > limit.maxBodyBytes) throw bodyTooLarge(`the body has ${length} bytes`, length, limit);
}

/** The error for a body that was cut off at the limit, so that its length is not known. */
export function cutBodyTooLarge(limit: SizeLimit, cause: unknown): RequestError {
  return bodyTooLarge('the body is longer than allowed', limit.maxBodyBytes + 1, limit, cause);
}

function bodyTooLarge(
  problem: string,
  leastLength: number,
  { maxBodyBytes, provider }: SizeLimit,
  cause?: unknown,
): RequestError {
  const longest = provider.maxBodyBytes ?? 0;
  const loss =
    leastLength <= longest
      ? `; ${provider.name} sends bodies up to ${longest} bytes: raise maxBodyBytes, or such events are lost`
      : '';
  return new RequestError('body_too_large', `${problem}; maxBodyBytes is ${maxBodyBytes}${loss}`, {
    cause,
  });
}
