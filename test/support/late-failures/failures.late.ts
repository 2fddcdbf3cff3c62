import { EventEmitter, once } from 'node:events';
import { describe, test } from 'vitest';

// Started by test/support/late-failures.program.test.ts.

const lastTest = new EventEmitter();

describe('a rejection', () => {
  test('with an error', () => {
    void once(lastTest, 'begin').then(() => {
      throw new Error('rejected by the first');
    });
  });

  test('with something that is no error', () => {
    void once(lastTest, 'begin').then(() => Promise.reject('rejected by the second'));
  });
});

test('an exception that nobody can catch', () => {
  void once(lastTest, 'begin').then(() =>
    setImmediate(() => {
      throw new Error('thrown by the third');
    }),
  );
});

test('the last test, which leaves nothing', async () => {
  lastTest.emit('begin');
  // Node.js tells of an unhandled rejection before the event loop turns.
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
});
