import { type OnTaken, StoredLease } from '../../src/receiver/dedupe/lease.ts';
import { clock } from './clock.ts';

/** The leases that are renewed, by their process: only a suspended function has those of a rerun. */
let renewed = new Map<string, Set<StoredLease>>();

/** Begins a new world. */
export function watchLeases(): void {
  renewed = new Map();
}

/** The leases that a process renews. */
export function leasesOf(process: string): Iterable<StoredLease> {
  return renewed.get(process) ?? [];
}

const { startRenewing, stop } = StoredLease.prototype;

StoredLease.prototype.startRenewing = function (onTaken: OnTaken, options): void {
  const leases = renewed.get(clock.process) ?? new Set();
  renewed.set(clock.process, leases.add(this));
  startRenewing.call(this, onTaken, options);
};

StoredLease.prototype.stop = function (): void {
  for (const leases of renewed.values()) leases.delete(this);
  stop.call(this);
};
