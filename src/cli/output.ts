import { codeOf, exitCodes } from './failure.ts';
import { type Printable, TerminalText } from './terminal-text.ts';

// Only this file writes to stdout and stderr, so that everything is escaped: ids, messages and answers come
// from the service, from receivers and from letters.

/** The output of a command: lines for people, or with `--json` one line of JSON each for machines. */
export interface Output {
  readonly json: boolean;
  /** True if the results go to a terminal, and may be laid out in its width. */
  readonly isTerminal: boolean;
  /**
   * Prints one result on stdout: `value` with `--json`, else the text. A list prints one line for each entry.
   */
  print(value: object, text: () => Printable | readonly Printable[]): void;
  /** Prints a line on stderr, apart from the results. */
  note(text: Printable): void;
}

export function createOutput({ json = false }: { readonly json?: boolean }): Output {
  return {
    json,
    isTerminal: !json && process.stdout.isTTY,
    print: (value, text) => void process.stdout.write(`${json ? toJson(value) : linesOf(text())}\n`),
    note,
  };
}

/** Writes a line to stderr. */
export function note(text: Printable): void {
  process.stderr.write(`${TerminalText.textOf(text)}\n`);
}

/**
 * Writes a text of several lines, such as a help text. Only characters that could control the terminal are
 * escaped.
 */
export function writeText(stream: 'stdout' | 'stderr', text: string): void {
  process[stream].write(TerminalText.textOf(TerminalText.paragraph(text)));
}

/** Overwrites the last line of the terminal; an empty text clears it. */
export function writeOver(text: string): void {
  // A wrapped line could not be overwritten.
  const line = TerminalText.textOf(text).slice(0, process.stderr.columns - 1);
  process.stderr.write(`\r\u001b[K${line}`);
}

/** Calls back once everything is written. */
export function flush(onFlushed: () => void): void {
  process.stdout.write('', () => process.stderr.write('', onFlushed));
}

/** Lets a command that only reads end with success once its reader, such as `head`, closes the pipe. */
export function endWithReader(): void {
  process.stdout.on('error', (error) => {
    process.exit(codeOf(error) === 'EPIPE' ? exitCodes.ok : exitCodes.failed);
  });
}

function linesOf(text: Printable | readonly Printable[]): string {
  const lines: readonly Printable[] =
    typeof text === 'object' && !(text instanceof TerminalText) ? text : [text];
  return TerminalText.textOf(TerminalText.lines(lines));
}

/** A value in JSON. Foreign data may be nested more deeply than `JSON.stringify` can go. Never throws. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return '{"unprintable":"it is nested too deeply"}';
  }
}

/** JSON on one line, in which no character can drive a terminal. */
function toJson(value: object): string {
  // JSON.stringify escapes characters below U+0020. The others occur in strings only, where an escape means
  // the same.
  return jsonOf(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
