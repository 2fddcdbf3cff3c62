import type { ConfirmableLease } from './lease.ts';
import type { RenewResult } from './store.ts';

/**
 * Joins the lease of a run to those that its caller holds, and that its handlers need to begin. A held lease
 * that is completed is not lost: nobody can take its id any more.
 */
export function joinLeases(own: ConfirmableLease, held: readonly ConfirmableLease[] = []): ConfirmableLease {
  if (held.length === 0) return own;
  const all = [own, ...held];
  return {
    get state(): RenewResult['state'] {
      return own.state === 'held' && held.some(({ state }) => state === 'lost') ? 'lost' : own.state;
    },
    get needsConfirmation(): boolean {
      return all.some((lease) => lease.needsConfirmation);
    },
    async confirm(): Promise<void> {
      await Promise.all(all.map((lease) => (lease.needsConfirmation ? lease.confirm() : undefined)));
    },
  };
}
