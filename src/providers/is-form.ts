import type { SingleHeaders } from '../receiver/request/single-headers.ts';

/** Returns true if the headers say that the body is a form, whose fields are encoded as in a query. */
export function isForm(headers: SingleHeaders): boolean {
  return /^\s*application\/x-www-form-urlencoded\b/i.test(headers.get('content-type') ?? '');
}
