import { EventError, HandlerError } from '../errors.ts';
import { propertyOf } from '../values/foreign-values.ts';
import { oneLine } from './one-line.ts';

const MAX_ERRORS = 4;
/** A chain of causes may be endless. */
const MAX_CAUSES = 2;
const MAX_FRAMES = 8;
const MAX_STACK_LENGTH = 10_000;

/**
 * The places in the user's code where the errors in an error, and their causes, were thrown. Each stack
 * becomes one line of frames, without the message, which may hold payload. A stack without such a place, like
 * that of a server's failure, is left out. Never throws.
 */
export function stackFramesOf(error: Error): string[] {
  return innerErrorsOf(error).slice(0, MAX_ERRORS).flatMap(framesOfChain);
}

function framesOfChain(thrown: unknown): string[] {
  const lines: string[] = [];
  let value = thrown;
  for (let causes = 0; causes <= MAX_CAUSES && value !== undefined; causes += 1) {
    const frames = framesOf(value);
    const label = causes === 0 ? 'stack' : 'cause';
    if (frames.length > 0) lines.push(`[${label}: ${frames.map(oneLine).join(' ')}]`);
    const cause = propertyOf(value, 'cause');
    value = cause === value ? undefined : cause;
  }
  return lines;
}

/** The errors whose stacks help: the stack of the JSON parser does not. */
function innerErrorsOf(error: Error): readonly unknown[] {
  if (error instanceof HandlerError) return error.errors;
  return error instanceof EventError ? [] : [error.cause];
}

function framesOf(thrown: unknown): string[] {
  const stack = propertyOf(thrown, 'stack');
  const message = propertyOf(thrown, 'message');
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  return linesAfterHeader(stack, message)
    .filter(isOfUser)
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim());
}

/**
 * The file of a frame of V8, which is `    at name (file:line:column)` or `    at file:line:column`.
 * Undefined for any other line.
 */
function fileOf(line: string): string | undefined {
  const [, named] = /^ {4}at (?:async )?(.+):\d+:\d+\)?$/.exec(line) ?? [];
  // A pattern for ` (` would take time that grows with the square of the length of a line.
  const start = named?.indexOf(' (') ?? -1;
  return start === -1 ? named : named?.slice(start + 2);
}

/** True for a frame of the user's code, not of Node.js, an installed package or posthorn. */
function isOfUser(line: string): boolean {
  const file = fileOf(line);
  if (file === undefined || file.startsWith('node:') || /[\\/]node_modules[\\/]/.test(file)) return false;
  return !OWN_FOLDERS.some((folder) => file.startsWith(folder));
}

/** The path of an installed posthorn has `node_modules`; that of a linked one or a clone does not. */
const OWN_FOLDERS = ownFolders();

/**
 * The folders of posthorn's own files, as stacks name them. A bundle has none: the user's code is in the same
 * file.
 */
function ownFolders(): readonly string[] {
  // A program may have replaced `Error.prepareStackTrace`.
  const [, ownFrame = ''] = String(propertyOf(new Error(), 'stack')).split('\n');
  const [, root, separator] =
    /^(.*)([\\/])src[\\/]receiver[\\/]outcomes[\\/]stack-frames\.[jt]s$/.exec(fileOf(ownFrame) ?? '') ?? [];
  return root === undefined ? [] : ['src', 'adapters'].map((folder) => root + separator + folder + separator);
}

/**
 * A stack of V8 begins with `<name>: <message>`, and lines of the message may look like frames. If the
 * message was changed afterwards, nothing shows where the frames begin.
 */
function linesAfterHeader(stack: string, message: string): string[] {
  const nameEnd = stack.search(/[:\n]/);
  const messageStart = stack.startsWith(': ', nameEnd) && message !== '' ? nameEnd + 2 : nameEnd;
  const headerEnd = messageStart + message.length;
  const hasHeader = nameEnd > 0 && stack.startsWith(message, messageStart) && stack[headerEnd] === '\n';
  return hasHeader ? stack.slice(headerEnd + 1, headerEnd + MAX_STACK_LENGTH).split('\n') : [];
}
