import { describe } from 'vitest';
import { Examples } from './examples.ts';

const examples = new Examples();

// With express, and without credentials: test/examples/examples.program.test.ts.
describe('the programs of examples/', () => {
  for (const name of ['node-http', 'cluster', 'postgres']) {
    for (const kind of ['BASIC', 'BEARER'] as const) examples.testPrintedCommand(name, kind);
    examples.testSigningKey(name);
  }
});
