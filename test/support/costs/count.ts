import { beforeEach } from 'vitest';
import { beginCounting } from './counter.ts';

const costs = beginCounting();

// The report of a file takes what lies in its `meta` to the main process once it has ended: ./check-budget.ts.
beforeEach(({ task }) => {
  task.file.meta.costs = costs;
});
