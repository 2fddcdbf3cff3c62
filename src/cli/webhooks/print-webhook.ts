import type { Authentication } from '../../receiver/authentication/credentials.ts';
import type { Webhook } from '../../service/client/webhook-answers.ts';
import { colours, line, type Printable, type TerminalText } from '../terminal-text.ts';

/** A webhook without its signing key, and without its credentials unless `showCredentials` is true. */
export function visibleParts(webhook: Webhook, showCredentials = false): object {
  const { secret_signing_key: _, ...rest } = webhook;
  return showCredentials ? rest : { ...rest, authentication: masked(webhook.authentication) };
}

const MASK = '********';

function masked(authentication: Authentication): Authentication {
  switch (authentication.type) {
    case 'NONE':
      return { type: 'NONE' };
    case 'BASIC':
      return { type: 'BASIC', basic: { username: authentication.basic.username, password: MASK } };
    case 'BEARER':
      return { type: 'BEARER', bearer: { token: MASK } };
  }
}

/** A webhook on one line. */
export function lineOfWebhook(webhook: Webhook, showCredentials = false): TerminalText {
  const { id, url, enabled, authentication } = webhook;
  const state = enabled ? colours.good('enabled') : colours.doubtful('disabled');
  const credentials = credentialsOf(showCredentials ? authentication : masked(authentication));
  return line`${colours.strong(id)} ${state} ${url} ${eventsOf(webhook)} ${credentials}`;
}

function eventsOf({ enabled_events }: Webhook): string {
  const patterns = enabled_events.flatMap(({ entity, types }) =>
    types.length === 0 ? [`${entity}.*`] : types.map((type) => `${entity}.${type}`),
  );
  return patterns.length === 0 ? '*' : patterns.join(',');
}

function credentialsOf(authentication: Authentication): string {
  switch (authentication.type) {
    case 'NONE':
      return 'NONE';
    case 'BASIC':
      return `BASIC ${authentication.basic.username}:${authentication.basic.password}`;
    case 'BEARER':
      return `BEARER ${authentication.bearer.token}`;
  }
}

/** A webhook on several lines. */
export function linesOfWebhook(webhook: Webhook, showCredentials = false): readonly Printable[] {
  const { created_at, updated_at } = webhook;
  return [
    lineOfWebhook(webhook, showCredentials),
    `  created ${created_at ?? 'unknown'}, updated ${updated_at ?? 'unknown'}`,
  ];
}
