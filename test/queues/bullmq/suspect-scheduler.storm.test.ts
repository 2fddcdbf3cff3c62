import { afterEach, beforeEach, describe, test, vi } from 'vitest';
import { simulateWorker, useFakeTurns } from './simulated-worker.ts';

describe('a worker that has suspects and ordinary jobs', () => {
  beforeEach(useFakeTurns);
  afterEach(() => void vi.useRealTimers());

  // test/queues/bullmq/suspect-scheduler.test.ts has the seeds before these.
  test.each(Array.from({ length: 17 }, (_, index) => index + 4))(
    'keeps them apart, keeps groups small, and ends them all (seed %i)',
    simulateWorker,
  );
});
