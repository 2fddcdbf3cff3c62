import { beforeEach } from 'vitest';
import { beginCounting } from './counter.ts';

const costs = beginCounting();

// The report of a file takes its `meta` to the main process, where ./check-budget.ts reads it.
beforeEach(({ task }) => {
  task.file.meta.costs = costs;
});
