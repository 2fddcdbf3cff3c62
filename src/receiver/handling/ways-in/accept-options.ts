import { isAccount } from '../../authentication/account.ts';
import { checkOptions, invalidOption } from '../../checks/check-options.ts';
import { isTimeMs } from '../../events/age.ts';
import { type HeaderFields, type HeaderValues, readHeaders } from '../../request/headers.ts';
import type { Settings } from '../../settings.ts';
import { show, textOf } from '../../values/foreign-values.ts';

/** Options of `receiver.accept`. */
export interface AcceptOptions {
  /**
   * Names the place that the event was fetched from, for example `events.list of Stripe`: 1 to 200
   * characters. The report has it as `acceptedFrom`, because nothing else shows how an unsigned event came
   * in.
   */
  readonly source: string;
  /**
   * The headers of the sender's request, for a sender that names the event in them, such as GitHub; none by
   * default.
   */
  readonly headers?: HeaderFields | undefined;
  /**
   * When the event was created, in milliseconds since the epoch, for a sender that does not say so in the
   * event. The time in the event counts, if there is one.
   */
  readonly createdAtMs?: number | undefined;
  /**
   * The account that the event is of: required for a receiver with the option `account`, and not allowed for
   * any other.
   */
  readonly account?: string | undefined;
  /**
   * True to run an event that is older than the store remembers, although it may have been handled and
   * forgotten; false by default. Handlers of an inbox still skip what they have a record of.
   */
  readonly allowForgotten?: boolean | undefined;
}

/** The options in the form that `accept` uses. */
export interface CheckedAcceptOptions {
  readonly source: string;
  readonly headers: HeaderValues;
  readonly createdAtMs: number | undefined;
  readonly account: string | undefined;
  readonly allowForgotten: boolean;
}

/** In characters. */
export const MAX_SOURCE_LENGTH = 200;

/** Checks the options, and fills in the defaults. Throws {@link ConfigurationError}. */
export function readAcceptOptions(
  options: AcceptOptions,
  settings: Pick<Settings, 'account'>,
): CheckedAcceptOptions {
  checkOptions(options, ['source', 'headers', 'createdAtMs', 'account', 'allowForgotten'], 'accept()');
  const { headers = {}, createdAtMs, allowForgotten = false } = options;
  const source = textOf(options.source);
  if (source === undefined || source.trim() === '' || source.length > MAX_SOURCE_LENGTH)
    throw invalidOption(
      'source of accept()',
      `must name the place that the event was fetched from, in 1 to ${MAX_SOURCE_LENGTH} characters; ` +
        `got ${show(options.source)}`,
    );
  if (createdAtMs !== undefined && !isTimeMs(createdAtMs))
    throw invalidOption(
      'createdAtMs of accept()',
      `must be a time in milliseconds since the epoch, got ${show(createdAtMs)}`,
    );
  if (typeof allowForgotten !== 'boolean')
    throw invalidOption('allowForgotten of accept()', `must be true or false, got ${show(allowForgotten)}`);
  const account = accountFor(options.account, settings);
  return { source, headers: readHeaders(headers), createdAtMs, account, allowForgotten };
}

/** Without the account, the event would have the key of another account's event. */
function accountFor(account: unknown, settings: Pick<Settings, 'account'>): string | undefined {
  if (settings.account === undefined && account === undefined) return undefined;
  if (settings.account === undefined)
    throw invalidOption('account of accept()', 'is not allowed: the receiver has no option account');
  if (isAccount(account)) return account;
  throw invalidOption(
    'account of accept()',
    `must be a text of 1 to 256 characters, because the receiver has several accounts; got ${show(account)}`,
  );
}
