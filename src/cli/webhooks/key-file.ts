import { rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { deferSignals } from '../defer-signals.ts';
import { CommandError, codeOf } from '../failure.ts';

/** Keeps a signing key, which the service shows only once. */
export interface KeyKeeper {
  /** Keeps the key. Resolves with the members that describe it in a result. */
  keep(signingKey: string): Promise<KeptKey>;
}

interface ClosableKeeper extends KeyKeeper {
  /** Cleans up if no key came. */
  close(): Promise<void>;
  /** Cleans up at once, because the process is about to end. */
  abandon(): void;
}

/** The place of a key: a file, or the result itself, which shows it once. */
export type KeptKey = { readonly keyFile: string } | { readonly secret_signing_key: string };

/**
 * Runs work that asks the service for a key. A new file, readable by its owner only, is opened before there
 * is a key to lose, and a signal does not interrupt the work. Without a path the key is printed. An existing
 * file is never overwritten: it is refused. With `mayExist`, which says that most likely no key will come, a
 * key is printed instead.
 */
export async function withKeyKeeper<T>(
  { keyFile, mayExist = false }: { readonly keyFile?: string; readonly mayExist?: boolean },
  work: (keeper: KeyKeeper) => Promise<T>,
): Promise<T> {
  let keeper: ClosableKeeper | undefined;
  const openAndWork = async (): Promise<T> => {
    keeper = await openKeyKeeper(keyFile, mayExist);
    try {
      return await work(keeper);
    } finally {
      await keeper.close();
    }
  };
  return deferSignals({
    reason: 'still waiting for the answer, which may show a signing key',
    work: openAndWork,
    abandon: () => keeper?.abandon(),
  });
}

async function openKeyKeeper(path: string | undefined, mayExist: boolean): Promise<ClosableKeeper> {
  if (path === undefined) return printer;
  try {
    return new KeyFile(path, await open(path, 'wx', 0o600));
  } catch (cause) {
    if (mayExist && codeOf(cause) === 'EEXIST') return printer;
    const message = `--key-file must be a new file that can be written: ${messageOf(cause)}`;
    throw new CommandError('file_unreadable', message, { cause });
  }
}

const printer: ClosableKeeper = {
  keep: async (signingKey) => ({ secret_signing_key: signingKey }),
  close: async () => {},
  abandon: () => {},
};

class KeyFile implements ClosableKeeper {
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
    if (!this.#isKept) await rm(this.#path, { force: true });
  }

  abandon(): void {
    if (!this.#isKept) rmSync(this.#path, { force: true });
  }
}
