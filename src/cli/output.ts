import { styleText } from 'node:util';
import { escapeControls } from '../outcomes/escape.ts';
import { codeOf, exitCodes } from './failure.ts';

/** The output of a command: lines for people, or with `--json` one line of JSON each for machines. */
export interface Output {
  readonly json: boolean;
  /** True if people read the results on a terminal: they may be laid out in its width. */
  readonly isTerminal: boolean;
  /** One result on stdout: `value` with `--json`, else the text. */
  print(value: object, text: () => string): void;
  /** A line on stderr, beside the results. */
  note(text: string): void;
}

/** Whatever comes from outside must have passed {@link escapeControls} before it is in a text. */
export function createOutput({ json = false }: { readonly json?: boolean }): Output {
  return {
    json,
    isTerminal: !json && process.stdout.isTTY,
    print: (value, text) => void process.stdout.write(`${json ? toJson(value) : text()}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  };
}

/** For a command that only reads: it ends well once its reader, such as `head`, has seen enough. */
export function endWithReader(): void {
  process.stdout.on('error', (error) => {
    process.exit(codeOf(error) === 'EPIPE' ? exitCodes.ok : exitCodes.failed);
  });
}

/** JSON on one line, in which no character can drive a terminal. */
function toJson(value: object): string {
  // JSON.stringify escapes what is below U+0020; the others can stand in
  // strings only, where an escape says the same.
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Text of several lines, its tabs kept, everything else that could drive a terminal escaped. */
export function escapeText(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part, index) => (index % 2 === 0 ? escapeControls(part) : part))
    .join('');
}

/** Colours, on a terminal only, and not where `NO_COLOR` is set. */
export const colours = {
  good: (text: string): string => style('green', text),
  bad: (text: string): string => style('red', text),
  doubtful: (text: string): string => style('yellow', text),
  minor: (text: string): string => style('gray', text),
  strong: (text: string): string => style('bold', text),
} as const;

function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stdout });
}
