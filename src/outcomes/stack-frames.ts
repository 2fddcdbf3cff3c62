import { EventError, HandlerError, type PosthornError } from '../errors.ts';
import { propertyOf } from '../foreign-values.ts';
import { oneLine } from './one-line.ts';

const MAX_ERRORS = 4;
/** A chain of causes may be endless. */
const MAX_CAUSES = 2;
const MAX_FRAMES = 8;
const MAX_STACK_LENGTH = 10_000;

/**
 * The places where the errors beneath an error, and their causes, were thrown. Each stack becomes one line of
 * frames, without the message, which may hold payload. Never throws.
 */
export function stackFramesOf(error: PosthornError): string[] {
  return thrownBeneath(error).slice(0, MAX_ERRORS).flatMap(framesOfChain);
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

/** The errors whose stacks show where to look. The stack of the JSON parser does not. */
function thrownBeneath(error: PosthornError): readonly unknown[] {
  if (error instanceof HandlerError) return error.errors;
  return error instanceof EventError ? [] : [error.cause];
}

function framesOf(thrown: unknown): string[] {
  const stack = propertyOf(thrown, 'stack');
  const message = propertyOf(thrown, 'message');
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  return linesAfterHeader(stack, message)
    .filter((line) => /^ {4}at .+:\d+:\d+\)?$/.test(line) && !line.includes('node:internal/'))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim());
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
