import { readFile } from 'node:fs/promises';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { Webhooks } from '../../service/client/webhooks.ts';
import { CommandError, usageError } from '../failure.ts';
import type { JsonOption } from '../options.ts';
import { createOutput } from '../output.ts';
import { line } from '../terminal-text.ts';
import { type ConnectionOptions, commandForNewKey, commandToPaste, connect } from './connection.ts';
import { type KeptKey, type KeyKeeper, withKeyKeeper } from './key-file.ts';
import { lineOfWebhook, visibleParts } from './print-webhook.ts';
import { keepingKeyOfFailure, linesOfKey, requireShown } from './shown-key.ts';

export interface RotateCommandOptions extends ConnectionOptions, JsonOption {
  readonly keyFile?: string;
  readonly resume?: string;
  /** Both webhooks send for this many milliseconds. */
  readonly overlap?: number;
}

/** `posthorn webhooks rotate` */
export function rotate(id: string, options: RotateCommandOptions): Promise<void> {
  return options.resume === undefined ? begin(id, options) : finish(id, options.resume, options);
}

/**
 * Ends the client's rotation once the key is kept: the receivers need the key before anything is signed with
 * it.
 */
class Paused extends Error {}

async function begin(id: string, options: RotateCommandOptions): Promise<void> {
  if (options.overlap !== undefined) throw usageError('--overlap belongs to the second step, with --resume');
  const output = createOutput(options);
  const webhooks = connect(options);
  await withKeyKeeper(options, async (keeper) => {
    const again = commandForNewKey(id, options);
    const created = createNext(webhooks, id, keeper);
    const next = await keepingKeyOfFailure(created, keeper, output, again);
    if (next === undefined) return;
    const { id: nextId, kept } = next;
    output.print({ id: nextId, previous: id, ...kept }, () => [
      `created ${nextId}, which is disabled until you go on`,
      ...linesOfKey(kept),
      '  now make every receiver accept both keys, and then go on:',
      ...commandsToFinish(id, nextId, kept, options).map((command) => `  ${command}`),
    ]);
    await requireShown(kept, output, `the disabled webhook ${nextId}`, again);
  });
}

async function createNext(
  webhooks: Pick<Webhooks, 'rotate'>,
  id: string,
  keeper: KeyKeeper,
): Promise<{ readonly id: string; readonly kept: KeptKey } | undefined> {
  let next: { readonly id: string; readonly kept: KeptKey } | undefined;
  try {
    await webhooks.rotate(id, {
      onSigningKey: async (signingKey, webhook) => {
        next = { id: webhook.id, kept: await keeper.keep(signingKey) };
        throw new Paused();
      },
    });
  } catch (error) {
    if (!(error instanceof Paused)) throw error;
  }
  return next;
}

/**
 * A key that was shown is not repeated here, because the command would put it into the history of the shell:
 * `read` asks for it.
 */
function commandsToFinish(
  id: string,
  nextId: string,
  kept: KeptKey,
  options: ConnectionOptions,
): readonly string[] {
  const ofKey = 'keyFile' in kept ? ['--key-file', kept.keyFile] : [];
  const command = commandToPaste(['rotate', id, '--resume', nextId, ...ofKey], options);
  return 'keyFile' in kept ? [command] : ['read -r NEW_SIGNING_KEY && export NEW_SIGNING_KEY', command];
}

/** Without the key, the command would enable a webhook that every receiver refuses. */
const KEY_COMPLAINT =
  'the new signing key is missing: give it as NEW_SIGNING_KEY or --key-file. If it is lost, rotate ' +
  'without --resume';

async function finish(id: string, nextId: string, options: RotateCommandOptions): Promise<void> {
  const output = createOutput(options);
  const { keyFile } = options;
  const { NEW_SIGNING_KEY = '' } = process.env;
  const signingKey = keyFile === undefined ? NEW_SIGNING_KEY : await readKeyFile(keyFile);
  const webhooks = connect(options, [{ isMissing: signingKey === '', complaint: KEY_COMPLAINT }]);
  const { webhook, previous } = await webhooks.rotate(id, {
    onSigningKey: () => {},
    resume: { id: nextId, signingKey },
    ...(options.overlap !== undefined && { overlapMs: options.overlap }),
  });
  output.print({ webhook: visibleParts(webhook), previous: visibleParts(previous) }, () => [
    line`now sending ${lineOfWebhook(webhook)}`,
    line`before      ${lineOfWebhook(previous)}`,
  ]);
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new CommandError('file_unreadable', `cannot read the key file: ${messageOf(cause)}`, { cause });
  }
}
