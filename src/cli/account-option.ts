import { isAccount } from '../receiver/authentication/account.ts';
import type { Settings } from '../receiver/settings.ts';
import { usageError } from './failure.ts';

/** Throws a usage error for an `--account` that the receiver cannot have. */
export function checkAccountOption(settings: Pick<Settings, 'account'>, account: string | undefined): void {
  if (account === undefined) return;
  if (settings.account === undefined)
    throw usageError('the receiver does not have the option account: leave out --account');
  if (!isAccount(account)) throw usageError('--account must be an account of 1 to 256 characters');
}
