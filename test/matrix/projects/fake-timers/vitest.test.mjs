import { test, vi } from 'vitest';
import { printOutcome } from './outcome.cjs';

test('a delivery', () => printOutcome(() => vi.useFakeTimers()));
