import { type Command, Option } from 'commander';
import { createClient } from '../../client/create-client.ts';
import type { Webhooks } from '../../client/webhooks.ts';
import { usageError } from '../failure.ts';

/** The service's address, and the credentials of the caller. */
export interface ConnectionOptions {
  readonly baseUrl?: string;
  readonly username?: string;
  readonly password?: string;
}

/** Adds the options of a connection. */
export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(new Option('--base-url <url>', "the service's base address").env('POSTHORN_BASE_URL'))
    .addOption(new Option('--username <name>', 'of an administrator').env('POSTHORN_USERNAME'))
    .addOption(new Option('--password <password>', "the administrator's").env('POSTHORN_PASSWORD'));
}

/** The webhook operations of the service. */
export function connect(options: ConnectionOptions): Webhooks {
  const baseUrl = required(options.baseUrl, 'base address', 'POSTHORN_BASE_URL', '--base-url');
  const username = required(options.username, 'administrator', 'POSTHORN_USERNAME', '--username');
  const password = required(options.password, "administrator's password", 'POSTHORN_PASSWORD', '--password');
  return createClient({ baseUrl, administrator: { username, password } }).webhooks;
}

function required(value: string | undefined, what: string, variable: string, option: string): string {
  if (value !== undefined && value !== '') return value;
  throw usageError(`the ${what} is missing: set ${variable} in the environment, or give ${option}`);
}
