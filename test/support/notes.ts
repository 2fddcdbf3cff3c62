import { readFileSync } from 'node:fs';

/** What one of several processes has noted in a file that they share. */
export interface Note {
  readonly pid: string;
  readonly what: string;
  readonly id: string;
  /** What follows the id: the outcome of a report, for example, or the attempt of a run. */
  readonly rest: string;
}

/** The notes in a file, in the order of writing, whoever wrote them. */
export function readNotes(file: string): Note[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [pid = '', what = '', id = '', ...rest] = line.split(' ');
    return { pid, what, id, rest: rest.join(' ') };
  });
}
