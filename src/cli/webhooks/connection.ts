import { type Command, Option } from 'commander';
import { createClient } from '../../client/create-client.ts';
import type { Webhooks } from '../../client/webhooks.ts';
import { type BaseUrlOption, baseUrlOption, requireBaseUrl, required } from '../connection.ts';

/** The service's address, and the credentials of the caller. */
export interface ConnectionOptions extends BaseUrlOption {
  readonly username?: string;
  readonly password?: string;
}

/** Adds the options of a connection. */
export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(baseUrlOption())
    .addOption(new Option('--username <name>', 'of an administrator').env('POSTHORN_USERNAME'))
    .addOption(new Option('--password <password>', "the administrator's").env('POSTHORN_PASSWORD'));
}

/** The webhook operations of the service. */
export function connect(options: ConnectionOptions): Webhooks {
  const baseUrl = requireBaseUrl(options);
  const username = required(options.username, 'administrator', 'POSTHORN_USERNAME', '--username');
  const password = required(options.password, "administrator's password", 'POSTHORN_PASSWORD', '--password');
  return createClient({ baseUrl, administrator: { username, password } }).webhooks;
}

/** The options that another command against the same service needs, apart from the password, a secret. */
export function optionsToRepeat({ baseUrl = '', username = '' }: ConnectionOptions): readonly string[] {
  const { POSTHORN_BASE_URL, POSTHORN_USERNAME } = process.env;
  return [
    ...(baseUrl === POSTHORN_BASE_URL ? [] : ['--base-url', baseUrl]),
    ...(username === POSTHORN_USERNAME ? [] : ['--username', username]),
  ];
}
