// Time limits of tests that are not about a time limit: a busy machine, or one that stands still for a while,
// does not reach them. A test of a time limit sets its own, and moves a clock or proves by order.

/** How long a test waits for a condition: less than its own limit, so that the message names what it is. */
export const WAIT_LIMIT_MS = 60_000;

/** For the options of every store and of all letters. */
export const ampleTime = { commandTimeoutMs: 60_000 } as const;

/** For the options of a receiver. The service hangs up after 30 seconds, so no deadline may be longer. */
export const ampleDeadlines = { deadlineMs: 29_000, leaseMs: 120_000, bodyTimeoutMs: 28_000 } as const;
