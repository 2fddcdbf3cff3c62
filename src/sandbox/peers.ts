import { createRequire } from 'node:module';
import type Big from 'big.js';
import type express from 'express';
import { ConfigurationError } from '../errors.ts';

/** The optional peers that only the sandbox needs. */
export interface Peers {
  readonly express: typeof express;
  readonly Big: typeof Big;
}

/** Loads them at the first sandbox, so that importing this module asks for nothing that is not installed. */
export function loadPeers(): Peers {
  try {
    const load = createRequire(pathOfThisFile());
    return { express: load('express'), Big: load('big.js') };
  } catch (cause) {
    throw new ConfigurationError(
      'the sandbox needs express (4.19 or later, or 5) and big.js beside posthorn: npm install express ' +
        'big.js',
      { cause },
    );
  }
}

/** ESM has it in `import.meta`, CommonJS in `__filename`, and a call site in both. */
function pathOfThisFile(): string {
  const { prepareStackTrace } = Error;
  let path: string | null | undefined;
  Error.prepareStackTrace = (_, [callSite]) => {
    path = callSite?.getFileName();
  };
  // Creates the stack, or reads it where it is created late.
  void new Error().stack;
  Error.prepareStackTrace = prepareStackTrace;
  if (typeof path !== 'string') throw new Error('the stack names no file: is Error.stackTraceLimit 0?');
  return path;
}
