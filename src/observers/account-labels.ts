import type { Report } from '../receiver/outcomes/report.ts';
import { propertyOf } from '../receiver/values/foreign-values.ts';

/** Each account has series of its own, so metrics name no more than this many. */
const MAX_ACCOUNTS = 100;

/** The labels of accounts in the metrics of one receiver. */
export class AccountLabels {
  readonly #named = new Set<string>();

  /**
   * Returns the account of a report, `other` for one that came after the first hundred, and `none` for a
   * delivery whose event could not be read, because it is not authentic for example.
   */
  labelOf({ event }: Pick<Report, 'event'>): string {
    const account = event?.account;
    if (account === undefined) return 'none';
    if (this.#named.size < MAX_ACCOUNTS) this.#named.add(account);
    return this.#named.has(account) ? account : 'other';
  }
}

/** Returns the labels for a receiver of several accounts; undefined for a receiver of one. */
export function accountLabelsFor(receiver: unknown): AccountLabels | undefined {
  const account = propertyOf(propertyOf(receiver, 'settings'), 'account');
  return account === undefined ? undefined : new AccountLabels();
}
