import { ConfigurationError, RequestError, SignatureError } from '../errors.ts';
import type { HeaderValues } from '../request/headers.ts';
import { SentHeaders, type SingleHeaders } from '../request/single-headers.ts';
import { dropPromise, isInstance, show, textOf, typeNameOf } from '../values/foreign-values.ts';

/** The parts of a request that name its account. They are not authentic yet. */
export interface AccountRequest {
  /** Each with one value. A header that was sent twice throws a SignatureError when it is read. */
  readonly headers: SingleHeaders;
  /**
   * The path and the query as they were sent, for example `/webhooks/m17`, never with a host; empty if the
   * adapter does not give them.
   */
  readonly url: string;
}

/** Names the account of a request; undefined for a request without one. */
export type AccountOption = (request: AccountRequest) => string | undefined;

/** An account is a part of ids, letters and metrics, and a stranger's path can have any length. */
const MAX_LENGTH = 256;

/** Returns the account of a request. Throws {@link RequestError} for a request without one. */
export function readAccount(accountOf: AccountOption, values: HeaderValues, url: string | undefined): string {
  const headers = new SentHeaders(values);
  const account: unknown = ask(accountOf, { headers, url: url ?? '' });
  if (headers.isTooLong) throw unknownAccount('a header that account() reads is too long');
  if (isAccount(account)) return account;
  if (textOf(account) !== undefined)
    throw unknownAccount(`account() returned more than ${MAX_LENGTH} characters`);
  if (account !== undefined && account !== null && typeof account !== 'string') throw wrongType(account);
  const missing = url === undefined ? '; the adapter did not give the url of the request' : '';
  throw unknownAccount(`account() found none in the request${missing}`);
}

/**
 * A stranger's request may be one that the function cannot read, so its errors refuse the request. The
 * message of such an error may have the url, which may hold a token: it is in the cause only, and in no log.
 */
function ask(accountOf: AccountOption, request: AccountRequest): unknown {
  try {
    return accountOf(request);
  } catch (cause) {
    if (isInstance(cause, SignatureError)) throw cause;
    throw unknownAccount(`account() threw ${typeNameOf(cause)}, which is the cause of this error`, cause);
  }
}

/** The value may have the url in it, so the message has its type alone. */
function wrongType(value: unknown): ConfigurationError {
  // A promise that rejects would end the process.
  dropPromise(value);
  return new ConfigurationError(
    `account() must return a text, or undefined if the request has none; got ${typeNameOf(value)}`,
  );
}

/** Returns true for a text that can be an account: 1 to 256 characters. */
export function isAccount(value: unknown): value is string {
  const text = textOf(value);
  return text !== undefined && text.length <= MAX_LENGTH;
}

/** The error for a request without an account. */
export function unknownAccount(problem: string, cause?: unknown): RequestError {
  return new RequestError('account_unknown', `the account of the request is unknown: ${problem}`, { cause });
}

/** Names the account in a message. The text is empty for a receiver of one account. */
export function ofAccount(account: string | undefined): string {
  return account === undefined ? '' : ` of the account ${show(account)}`;
}
