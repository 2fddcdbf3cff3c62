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
  const load = createRequire(import.meta.url);
  try {
    return { express: load('express'), Big: load('big.js') };
  } catch (cause) {
    throw new ConfigurationError(
      'the sandbox needs express (4.19 or later, or 5) and big.js beside posthorn: npm install express ' +
        'big.js',
      { cause },
    );
  }
}
