import { constants } from 'node:os';
import { ConfigurationError, isPosthornError } from '../receiver/errors.ts';
import { isError, isInstance, messageOf, propertyOf } from '../receiver/values/foreign-values.ts';
import { ServiceError } from '../service/client/service-error.ts';
import { hideSecrets } from './hide-secrets.ts';

/** The exit codes of commands. */
export const exitCodes = {
  /** The command succeeded. */
  ok: 0,
  /** The command failed. */
  failed: 1,
  /** Wrong usage: nothing was tried. */
  usage: 2,
  /** The address did not answer. */
  unreachable: 3,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit codes, for the end of a help text. */
export const EXIT_CODES_HELP = `
Exit codes:
  0  done
  1  the command failed
  2  wrong usage: an option, a file or a package is missing or wrong
  3  the address did not answer`;

/** Ends a command with one line and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: keyof typeof endings;

  constructor(code: CommandError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get exitCode(): ExitCode {
    return exitCodes[endings[this.code]];
  }
}

const endings = {
  usage_invalid: 'usage',
  file_unreadable: 'usage',
  package_missing: 'usage',
  unreachable: 'unreachable',
  output_refused: 'failed',
  failed: 'failed',
} as const;

/** The error of wrong usage; the message says what is right. */
export function usageError(message: string): CommandError {
  return new CommandError('usage_invalid', message);
}

/** Kept here, because the module of a receiver may set `process.exitCode`. */
let exitCode: number = exitCodes.ok;

/** The exit code of the command. */
export function currentExitCode(): number {
  return exitCode;
}

/** Sets the exit code of the command, unless a signal has set its own, which is above 128. */
export function setExitCode(code: ExitCode): void {
  if (exitCode <= 128) exitCode = code;
}

/** Sets the exit code of a failure, unless there is one already. */
export function setFailed(): void {
  if (exitCode === exitCodes.ok) exitCode = exitCodes.failed;
}

/** Sets the exit code that shells give for a signal. */
export function setExitCodeOfSignal(signal: NodeJS.Signals): void {
  exitCode = 128 + constants.signals[signal];
}

/** For a process that runs several commands. */
export function resetExitCode(): void {
  exitCode = exitCodes.ok;
}

export function exitCodeOf(error: unknown): ExitCode {
  if (isInstance(error, CommandError)) return error.exitCode;
  if (isInstance(error, ConfigurationError)) return exitCodes.usage;
  const isUnreachable =
    isPosthornError(error) &&
    [
      'service_unreachable',
      'service_timeout',
      'dead_letters_unavailable',
      'store_unavailable',
      'queue_unavailable',
      'journal_unavailable',
    ].includes(error.code);
  return isUnreachable ? exitCodes.unreachable : exitCodes.failed;
}

/** The one line about an error: its message and its code, without the stack. */
export function lineOf(error: unknown): string {
  const { status, details } = isInstance(error, ServiceError) ? error : {};
  const message = [messageOf(error), details].filter((part) => part !== undefined).join(': ');
  const code = [codeOf(error), status].filter((part) => part !== undefined).join(' ');
  // A misplaced secret shows up as wrong usage.
  const shown = exitCodeOf(error) === exitCodes.usage ? hideSecrets(message) : message;
  return `posthorn: ${shown}${code === '' ? '' : ` (${code})`}`;
}

/** The code of a posthorn error, or of a system error such as `EADDRINUSE`. */
export function codeOf(error: unknown): string | undefined {
  const code = isError(error) ? propertyOf(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}
