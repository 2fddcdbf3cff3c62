import { describe, test } from 'vitest';
import { dropsAndReplays } from './drop-or-replay.ts';

describe('of a drop and a replay at once exactly one tells that it has the event,', () => {
  for (const { name, run } of dropsAndReplays) {
    test(`${name}, in 300 rounds`, () => run(300));
  }
});
