import type { Outcome } from 'posthorn';

const all: Readonly<Record<Outcome, true>> = {
  processed: true,
  duplicate: true,
  ignored: true,
  queued: true,
  parked: true,
  handshake: true,
  rejected: true,
  failed: true,
  busy: true,
};

/** Every outcome, so that a page or a list of tests without one is noticed. */
export const outcomes: readonly string[] = Object.keys(all);
