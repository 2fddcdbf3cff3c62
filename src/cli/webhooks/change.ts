import { ServiceError } from '../../client/service-error.ts';
import type { Webhooks } from '../../client/webhooks.ts';
import { isInstance } from '../../foreign-values.ts';
import { usageError } from '../failure.ts';
import type { JsonOption } from '../options.ts';
import { createOutput, type Output } from '../output.ts';
import { line } from '../terminal-text.ts';
import { type ConnectionOptions, connect } from './connection.ts';
import { type KeyKeeper, linesOfKey, openKeyKeeper } from './key-file.ts';
import { lineOfWebhook, visibleParts } from './print-webhook.ts';
import { readWanted, type WantedOptions, wantedSettings } from './wanted.ts';

export interface CreateOptions extends ConnectionOptions, JsonOption, WantedOptions {
  readonly keyFile?: string;
}

/** `posthorn webhooks create` */
export async function create(url: string, options: CreateOptions): Promise<void> {
  const output = createOutput(options);
  const webhooks = connect(options, wantedSettings(options));
  const request = { url, ...readWanted(options) };
  const keeper = await openKeyKeeper(options.keyFile);
  try {
    const webhook = await webhooks.create(request);
    const kept = await keeper.keep(webhook.secret_signing_key);
    output.print({ webhook: visibleParts(webhook), ...kept }, () => [
      line`created ${lineOfWebhook(webhook)}`,
      ...linesOfKey(kept),
    ]);
  } catch (error) {
    await keepKeyOf(error, keeper, output);
    throw error;
  } finally {
    await keeper.close();
  }
}

/** Keeps the key of a new webhook that the service had shown, only once, before the failure. */
async function keepKeyOf(error: unknown, keeper: KeyKeeper, output: Output): Promise<void> {
  const signingKey = isInstance(error, ServiceError) ? error.signingKey() : undefined;
  if (signingKey === undefined) return;
  const kept = await keeper.keep(signingKey);
  output.print(kept, () => ['a webhook was created', ...linesOfKey(kept)]);
}

export interface UpdateOptions extends ConnectionOptions, JsonOption, WantedOptions {
  readonly url?: string;
}

/** `posthorn webhooks update` */
export async function update(id: string, options: UpdateOptions): Promise<void> {
  const { url } = options;
  const webhooks = connect(options, wantedSettings(options));
  const changes = { ...(url !== undefined && { url }), ...readWanted(options) };
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
  webhooks: Webhooks,
  id: string,
  changes: Parameters<Webhooks['update']>[1],
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
  const enabled = enable ? true : disable ? false : undefined;
  const webhooks = connect(options, wantedSettings(options));
  const wanted = {
    url,
    ...(id !== undefined && { id }),
    ...readWanted(options),
    ...(enabled !== undefined && { enabled }),
  };
  const keeper = await openKeyKeeper(options.keyFile, true);
  try {
    const { webhook, changes, signingKey } = await webhooks.ensure(wanted, { force });
    const kept = signingKey === undefined ? undefined : await keeper.keep(signingKey);
    output.print({ webhook: visibleParts(webhook), changes, ...kept }, () => {
      const what = changes.length === 0 ? 'unchanged' : `changed (${changes.join(', ')})`;
      const done = changes.includes('created') ? 'created' : what;
      const first = line`${done} ${lineOfWebhook(webhook)}`;
      return kept === undefined ? first : [first, ...linesOfKey(kept)];
    });
  } catch (error) {
    await keepKeyOf(error, keeper, output);
    throw error;
  } finally {
    await keeper.close();
  }
}
