import { type Command, Option } from 'commander';
import { createClient } from '../../service/client/create-client.ts';
import type { Webhooks } from '../../service/client/webhooks.ts';
import { type BaseUrlOption, baseUrlOption, baseUrlSetting } from '../connection.ts';
import { programName } from '../program-name.ts';
import { quote } from '../quote.ts';
import { requireSettings, type Setting, setting } from '../settings.ts';

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

/** The webhook operations of the service. An error names what is missing for them, and of `others`. */
export function connect(options: ConnectionOptions, others: readonly Setting[] = []): Webhooks {
  const baseUrl = baseUrlSetting(options);
  const username = setting(options.username, 'administrator', 'POSTHORN_USERNAME', '--username');
  const password = setting(options.password, "administrator's password", 'POSTHORN_PASSWORD', '--password');
  requireSettings([baseUrl, username, password, ...others]);
  const administrator = { username: username.value, password: password.value };
  return createClient({ baseUrl: baseUrl.value, administrator }).webhooks;
}

/** Another command against the same service, to be pasted. It lacks the password, a secret. */
export function commandToPaste(
  words: readonly string[],
  { baseUrl = '', username = '' }: ConnectionOptions,
): string {
  const { POSTHORN_BASE_URL, POSTHORN_USERNAME } = process.env;
  const options = [
    ...(baseUrl === POSTHORN_BASE_URL ? [] : ['--base-url', baseUrl]),
    ...(username === POSTHORN_USERNAME ? [] : ['--username', username]),
  ];
  return [programName(), 'webhooks', ...[...words, ...options].map(quote)].join(' ');
}

/** The command that introduces a new key for a webhook whose key is lost. */
export function commandForNewKey(id: string, options: ConnectionOptions): string {
  return commandToPaste(['rotate', id, '--key-file', 'new-key'], options);
}
