import { type FileHandle, open, unlink } from 'node:fs/promises';
import { messageOf } from '../../foreign-values.ts';
import { escapeControls } from '../../outcomes/escape.ts';
import { CommandError, codeOf } from '../failure.ts';

/** Keeps a signing key, which the service shows only once. */
export interface KeyKeeper {
  /** Keeps the key. Resolves with the members that describe it in a result. */
  keep(signingKey: string): Promise<KeptKey>;
  /** Cleans up if no key came. */
  close(): Promise<void>;
}

/** The place of a key: a file, or the result itself, which shows it once. */
export type KeptKey = { readonly keyFile: string } | { readonly secret_signing_key: string };

/**
 * Opens a new file, readable by its owner only, before there is a key to lose. Without a path the key is
 * printed. An existing file is never overwritten: it is refused. With `mayExist`, which says that most likely
 * no key will come, a key is printed instead.
 */
export async function openKeyKeeper(path: string | undefined, mayExist = false): Promise<KeyKeeper> {
  if (path === undefined) return printer;
  try {
    return new KeyFile(path, await open(path, 'wx', 0o600));
  } catch (cause) {
    if (mayExist && codeOf(cause) === 'EEXIST') return printer;
    const message = `--key-file must be a new file that can be written: ${messageOf(cause)}`;
    throw new CommandError('file_unreadable', message, { cause });
  }
}

const printer: KeyKeeper = {
  keep: async (signingKey) => ({ secret_signing_key: signingKey }),
  close: async () => {},
};

class KeyFile implements KeyKeeper {
  readonly #path: string;
  readonly #file: FileHandle;
  #isKept = false;

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  async keep(signingKey: string): Promise<KeptKey> {
    try {
      await this.#file.writeFile(signingKey);
      await this.#file.sync();
      this.#isKept = true;
      return { keyFile: this.#path };
    } catch {
      // The disk may be full, for example: a printed key is better than a lost one.
      return { secret_signing_key: signingKey };
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
    if (!this.#isKept) await unlink(this.#path);
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
