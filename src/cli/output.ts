import { fstatSync, writeFileSync } from 'node:fs';
import { messageOf } from '../receiver/values/foreign-values.ts';
import { CommandError, codeOf, currentExitCode, lineOf, setFailed } from './failure.ts';
import { type Printable, TerminalText } from './terminal-text.ts';

// Only this file writes to stdout and stderr. So everything is escaped: ids, messages and answers come from
// the service, from receivers and from dead letters. And no write fails unnoticed.

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
  /** Resolves once the results are written, with false if stdout refused a part of them. */
  isWritten(): Promise<boolean>;
}

export function createOutput({ json = false }: { readonly json?: boolean }): Output {
  return {
    json,
    isTerminal: !json && process.stdout.isTTY,
    print: (value, text) => write('stdout', `${json ? toJson(value) : linesOf(text())}\n`),
    note,
    isWritten: async () => {
      await flush();
      return !refusals.has('stdout');
    },
  };
}

/**
 * The output of a command that only reads: it ends with success once its reader, such as `head`, closes the
 * pipe.
 */
export function createReadingOutput(options: { readonly json?: boolean }): Output {
  endWithReader();
  return createOutput(options);
}

/** Writes a line to stderr. */
export function note(text: Printable): void {
  write('stderr', `${TerminalText.textOf(text)}\n`);
}

/**
 * Writes a text of several lines, such as a help text. Only characters that could control the terminal are
 * escaped.
 */
export function writeText(stream: StreamName, text: string): void {
  write(stream, TerminalText.textOf(TerminalText.paragraph(text)));
}

/** Overwrites the last line of the terminal; an empty text clears it. */
export function writeOver(text: string): void {
  // A wrapped line could not be overwritten.
  const line = TerminalText.textOf(text).slice(0, process.stderr.columns - 1);
  write('stderr', `\r\u001b[K${line}`);
}

/** Resolves once everything is written or refused. */
export function flush(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write('', () => process.stderr.write('', () => resolve()));
  });
}

/** Lets a command that only reads end with success once its reader, such as `head`, closes the pipe. */
export function endWithReader(): void {
  endsWithReader = true;
}

/**
 * Ends the process once everything is written, even if the receiver's module keeps a connection open. The
 * exit code is 0 only if the system took everything that the command had to say.
 */
export function endProcess(): Promise<void> {
  ending ??= end();
  return ending;
}

async function end(): Promise<void> {
  await flush();
  const refusal = [...refusals].find(([, error]) => !endsWithReader || codeOf(error) !== 'EPIPE');
  if (refusal !== undefined) {
    const [stream, error] = refusal;
    const message = `${stream} refused a part of the output: ${messageOf(error)}`;
    note(lineOf(new CommandError('output_refused', message, { cause: error })));
    setFailed();
    await flush();
  }
  endNow();
}

/** Ends the process at once, with the exit code of the command. */
export function endNow(): never {
  isEnding = true;
  // The receiver's module may set another code in a listener of its own, which comes before this one.
  process.on('exit', () => {
    process.exitCode = currentExitCode();
  });
  process.exit(currentExitCode());
}

/** Returns true once the command has come to its own end. */
export function hasEnded(): boolean {
  return isEnding;
}

type StreamName = 'stdout' | 'stderr';

const descriptors = { stdout: 1, stderr: 2 } as const;

/** The first error of each stream, kept here because a pipe of `process.stdout` forgets its error. */
const refusals = new Map<StreamName, unknown>();

let endsWithReader = false;
let ending: Promise<void> | undefined;
let isEnding = false;

function write(name: StreamName, text: string): void {
  if (!fstatSync(descriptors[name]).isFile()) {
    process[name].write(text, (error) => {
      if (error) refuse(name, error);
    });
    return;
  }
  // A disk that is nearly full takes only a part, and process.stdout would ignore that: SyncWriteStream of
  // Node.js calls writeSync once.
  try {
    writeFileSync(descriptors[name], text);
  } catch (error) {
    refuse(name, error);
  }
}

function refuse(name: StreamName, error: unknown): void {
  if (refusals.has(name)) return;
  refusals.set(name, error);
  // Nobody would read the rest of a command that only reads.
  if (endsWithReader && name === 'stdout') void endProcess();
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
