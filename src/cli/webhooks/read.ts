import { findWebhook } from '../../service/client/find-webhook.ts';
import type { JsonOption } from '../options.ts';
import { createReadingOutput } from '../output.ts';
import { type ConnectionOptions, connect } from './connection.ts';
import { lineOfWebhook, linesOfWebhook, visibleParts } from './print-webhook.ts';

export interface ReadOptions extends ConnectionOptions, JsonOption {
  readonly showCredentials?: boolean;
}

/** `posthorn webhooks list` */
export async function list({ showCredentials, ...options }: ReadOptions): Promise<void> {
  const output = createReadingOutput(options);
  let count = 0;
  for await (const webhook of connect(options).listAll()) {
    count += 1;
    output.print(visibleParts(webhook, showCredentials), () => lineOfWebhook(webhook, showCredentials));
  }
  if (count === 0) output.note('there are no webhooks');
}

/** `posthorn webhooks show` */
export async function show(id: string, { showCredentials, ...options }: ReadOptions): Promise<void> {
  const output = createReadingOutput(options);
  const webhook = await findWebhook(connect(options), id);
  output.print(visibleParts(webhook, showCredentials), () => linesOfWebhook(webhook, showCredentials));
}
