import { escapeControls } from '../../receiver/outcomes/escape.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import { ServiceError } from '../../service/client/service-error.ts';
import { CommandError } from '../failure.ts';
import type { Output } from '../output.ts';
import type { KeptKey, KeyKeeper } from './key-file.ts';

/**
 * Resolves as `result` does. If it fails after the service has shown the key of a new webhook, keeps that key
 * before the failure goes on.
 */
export async function keepingKeyOfFailure<T>(
  result: Promise<T>,
  keeper: KeyKeeper,
  output: Output,
  commandForNewKey: string,
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    const signingKey = isInstance(error, ServiceError) ? error.signingKey() : undefined;
    if (signingKey !== undefined) {
      const kept = await keeper.keep(signingKey);
      output.print(kept, () => ['a webhook was created', ...linesOfKey(kept)]);
      await requireShown(kept, output, 'a new webhook, whose ID "webhooks list" shows', commandForNewKey);
    }
    throw error;
  }
}

/** The lines that say where the key is. */
export function linesOfKey(kept: KeptKey): string[] {
  if ('keyFile' in kept)
    return [`  its signing key is in ${kept.keyFile}; it cannot be read from the service again`];
  const { secret_signing_key: key } = kept;
  const hint = escapeControls(key) === key ? '' : ', its control characters written as \\u{…}';
  return [`  its signing key, shown this once: it cannot be read again${hint}`, `  ${key}`];
}

/**
 * Resolves once a printed key is written. If stdout has refused it, the key goes to stderr, but only to a
 * terminal: elsewhere stderr is often a log. Otherwise throws an error that says how `webhook` gets a new
 * key.
 */
export async function requireShown(
  kept: KeptKey,
  output: Output,
  webhook: string,
  commandForNewKey: string,
): Promise<void> {
  if ('keyFile' in kept || (await output.isWritten())) return;
  const refused = `stdout refused the signing key of ${webhook}`;
  if (!process.stderr.isTTY) {
    const message = `${refused}, and it cannot be read from the service again: ${commandForNewKey}`;
    throw new CommandError('output_refused', `${message} gives it a new one`);
  }
  for (const line of [refused, ...linesOfKey(kept)]) output.note(line);
}
