import { join } from 'node:path';
import type { DeadLetter, DeadLetters, Store } from 'posthorn';
import { expect } from 'vitest';
import { jsonLines, posthorn } from '../cli/posthorn.ts';
import { packageRoot } from '../support/child-program.ts';
import { readAll } from '../support/read-all.ts';
import type { Opened } from './restored.ts';

/** Past the time for which the handlers of a killed process may run, and so past its lease too. */
export const AFTER_RUN_MS: number = 5 * 60_000;

/** A body that is not JSON has no id. */
export const NOT_JSON: unknown = expect.stringMatching(/^[0-9a-f]{64}$/);
/** Those of each version, in the order of the list. */
export const LETTERS: readonly unknown[] = ['evt_refused', 'evt_last', NOT_JSON, 'evt_last_running'];

export type Letters = Pick<Opened, 'deadLetters' | 'place'> & { readonly store?: Store };

/** All letters but those of jobs, in the order of the list. */
export async function lettersIn(deadLetters: DeadLetters, after?: string): Promise<DeadLetter[]> {
  const options = after === undefined ? {} : { after };
  const letters = await readAll(deadLetters.list(options));
  const summaries = deadLetters.summaries?.(options);
  if (summaries !== undefined)
    expect(await readAll(summaries)).toEqual(letters.map(({ rawBody, headers, ...summary }) => summary));
  return letters.filter(({ id }) => !id.startsWith('evt_job'));
}

/** Lists, shows, replays and drops the letters by the commands of the program `posthorn`. */
export async function treatByProgram({ place, deadLetters }: Letters): Promise<void> {
  const { args, env } = place;
  const run = async (command: string, ...more: string[]) => {
    const ended = await posthorn(['dead-letters', command, ...more], { env });
    expect(ended).toMatchObject({ code: 0 });
    return ended;
  };
  const listed = jsonLines(await run('list', ...args, '--json')).slice(0, -1);
  expect(listed.map(({ id }) => id).filter((id) => !String(id).startsWith('evt_job'))).toEqual(LETTERS);
  expect((await run('show', 'evt_refused', ...args)).stdout).toContain('"plan":"refuse"');
  const module = join(packageRoot, 'test', 'stored-forms', 'replaying.mjs');
  const replayed = await run('replay', 'evt_refused', '--receiver', module, '--json');
  expect(replayed.stderr).toBe('book evt_refused\n');
  await run('drop', 'evt_last', ...args, '--yes');
  const left = (await lettersIn(deadLetters)).map(({ id }) => id);
  expect(left).toEqual([NOT_JSON, 'evt_last_running']);
}
