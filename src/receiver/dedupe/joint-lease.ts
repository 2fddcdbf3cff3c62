import type { ConfirmableLease } from './lease.ts';
import type { RenewResult } from './store.ts';

/**
 * Joins the lease of a run to further leases that its handlers need to begin. A further lease that is
 * completed is not lost: nobody can take its id any more.
 */
export function withFurther(
  own: ConfirmableLease,
  further: readonly ConfirmableLease[] = [],
): ConfirmableLease {
  if (further.length === 0) return own;
  const all = [own, ...further];
  return {
    get state(): RenewResult['state'] {
      return own.state === 'held' && further.some(({ state }) => state === 'lost') ? 'lost' : own.state;
    },
    get needsConfirmation(): boolean {
      return all.some((lease) => lease.needsConfirmation);
    },
    async confirm(): Promise<void> {
      await Promise.all(all.map((lease) => (lease.needsConfirmation ? lease.confirm() : undefined)));
    },
  };
}
