import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { Provider } from '../../receiver/provider/provider.ts';
import type { Webhooks } from '../../service/client/webhooks.ts';
import type { WebhookUpdate } from '../../service/shapes/webhooks.ts';
import { usageError } from '../failure.ts';
import type { JsonOption } from '../options.ts';
import { createOutput } from '../output.ts';
import { line } from '../terminal-text.ts';
import { type ConnectionOptions, commandForNewKey, connect } from './connection.ts';
import { withKeyKeeper } from './key-file.ts';
import { lineOfWebhook, visibleParts } from './print-webhook.ts';
import { loadProvider } from './provider-module.ts';
import { keepingKeyOfFailure, linesOfKey, requireShown } from './shown-key.ts';
import { readWanted, type WantedOptions, wantedSettings } from './wanted.ts';

export interface CreateOptions extends ConnectionOptions, JsonOption, WantedOptions {
  readonly keyFile?: string;
}

async function providerOf({ json = false, provider }: UpdateOptions): Promise<Provider | undefined> {
  return provider === undefined ? undefined : loadProvider(provider, json);
}

/** `posthorn webhooks create` */
export async function create(url: string, options: CreateOptions): Promise<void> {
  const output = createOutput(options);
  const provider = await providerOf(options);
  const webhooks = connect(options, wantedSettings(options), provider);
  const request = { url, ...readWanted(options, provider) };
  await withKeyKeeper(options, async (keeper) => {
    const created = webhooks.create(request);
    const webhook = await keepingKeyOfFailure(created, keeper, output, commandForNewKey('ID', options));
    const kept = await keeper.keep(webhook.secret_signing_key);
    output.print({ webhook: visibleParts(webhook), ...kept }, () => [
      line`created ${lineOfWebhook(webhook)}`,
      ...linesOfKey(kept),
    ]);
    await requireShown(kept, output, `the webhook ${webhook.id}`, commandForNewKey(webhook.id, options));
  });
}

export interface UpdateOptions extends ConnectionOptions, JsonOption, WantedOptions {
  readonly url?: string;
}

/** `posthorn webhooks update` */
export async function update(id: string, options: UpdateOptions): Promise<void> {
  const { url } = options;
  const provider = await providerOf(options);
  const webhooks = connect(options, wantedSettings(options), provider);
  const changes = { ...(url !== undefined && { url }), ...readWanted(options, provider) };
  if (Object.keys(changes).length === 0) {
    throw usageError('say what to change: --url, --event, --authentication, --basic or --bearer');
  }
  await applyUpdate(webhooks, id, changes, 'updated', options);
}

/** `posthorn webhooks enable` and `disable`: they send the update even if the webhook already says so. */
export function setEnabled(
  enabled: boolean,
): (id: string, options: ConnectionOptions & JsonOption) => Promise<void> {
  const done = enabled ? 'enabled' : 'disabled';
  return async (id, options) => applyUpdate(connect(options), id, { enabled }, done, options);
}

async function applyUpdate(
  webhooks: Webhooks<TypedEvent>,
  id: string,
  changes: WebhookUpdate<TypedEvent>,
  done: string,
  options: JsonOption,
): Promise<void> {
  const output = createOutput(options);
  const webhook = await webhooks.update(id, changes);
  output.print({ webhook: visibleParts(webhook) }, () => line`${done} ${lineOfWebhook(webhook)}`);
}

export interface EnsureOptions extends CreateOptions {
  readonly id?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
  readonly force?: boolean;
}

/** `posthorn webhooks ensure` */
export async function ensure(url: string, options: EnsureOptions): Promise<void> {
  const output = createOutput(options);
  const { id, enable, disable, force } = options;
  if (enable && disable) throw usageError('give --enable or --disable, not both');
  if (force && !enable && !disable) throw usageError('--force needs --enable or --disable');
  const provider = await providerOf(options);
  const webhooks = connect(options, wantedSettings(options), provider);
  const enabled = enable ? true : disable ? false : undefined;
  const wanted = { url, id, ...readWanted(options, provider), enabled };
  await withKeyKeeper({ ...options, mayExist: true }, async (keeper) => {
    const ensured = webhooks.ensure(wanted, { force });
    const command = commandForNewKey('ID', options);
    const { webhook, changes, signingKey } = await keepingKeyOfFailure(ensured, keeper, output, command);
    const kept = signingKey === undefined ? undefined : await keeper.keep(signingKey);
    output.print({ webhook: visibleParts(webhook), changes, ...kept }, () => {
      const what = changes.length === 0 ? 'unchanged' : `changed (${changes.join(', ')})`;
      const done = changes.includes('created') ? 'created' : what;
      const first = line`${done} ${lineOfWebhook(webhook)}`;
      return kept === undefined ? first : [first, ...linesOfKey(kept)];
    });
    if (kept === undefined) return;
    await requireShown(kept, output, `the webhook ${webhook.id}`, commandForNewKey(webhook.id, options));
  });
}
