import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { Provider } from '../../receiver/provider/provider.ts';
import { createClient } from '../../service/client/create-client.ts';
import type { Webhooks } from '../../service/client/webhooks.ts';
import { programName } from '../program-name.ts';
import { quote } from '../quote.ts';
import { type Requirement, requireSettings, type SettingOptions } from '../settings.ts';

/** The service's address, and the credentials of the caller. */
export const connectionSettings = ['baseUrl', 'username', 'password'] as const;

export type ConnectionOptions = SettingOptions<(typeof connectionSettings)[number]>;

/** The webhook operations of the service. An error names what is missing for them, and of `others`. */
export function connect(
  options: ConnectionOptions,
  others: readonly Requirement[] = [],
  provider?: Provider,
): Webhooks<TypedEvent> {
  requireSettings(options, connectionSettings, others);
  const { baseUrl, username, password } = options;
  return createClient<TypedEvent>({ baseUrl, administrator: { username, password }, provider }).webhooks;
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
