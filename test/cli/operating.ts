import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetter } from 'posthorn';
import type { ChildProgram } from '../support/child-program.ts';
import { until } from '../support/until.ts';
import { startPosthornProcess } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

/** Its handler waits at `evt_held` until there is a file `go`. */
const RECEIVER = `
  import { existsSync, writeFileSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  ${LETTERS_BESIDE}
  const at = (name) => new URL(name, import.meta.url).pathname;
  export const receiver = createReceiver({ signingKey: 'k', deadLetters });
  receiver.on('*', async ({ id }) => {
    if (id !== 'evt_held') return;
    writeFileSync(at('begun'), '');
    while (!existsSync(at('go'))) await setTimeout(10);
  }, { name: 'book' });`;

interface Operating {
  readonly program: ChildProgram;
  /** The printed address. */
  readonly address: string;
  readonly ids: () => Promise<readonly string[]>;
  /** Resolves once the handler of `evt_held` runs. */
  readonly isHeld: () => Promise<void>;
  readonly release: () => void;
}

/** Starts `posthorn operator` on a free port, for a receiver with these dead letters. */
export async function startOperator(letters: readonly DeadLetter[]): Promise<Operating> {
  const { file, deadLetters } = await writeModule(RECEIVER, letters);
  const beside = (name: string): string => join(file, '..', name);
  const program = startPosthornProcess(['operator', '--receiver', file, '--port', '0']);
  return {
    program,
    address: addressIn(await program.line(/\?token=/)),
    ids: async () => {
      const found: string[] = [];
      for await (const { id } of deadLetters.list()) found.push(id);
      return found;
    },
    isHeld: () => until('the handler of evt_held runs', () => existsSync(beside('begun'))),
    release: () => writeFileSync(beside('go'), ''),
  };
}

export function addressIn(line: string): string {
  return /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/.exec(line)?.[0] ?? '';
}
