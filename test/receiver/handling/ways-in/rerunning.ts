import { createMemoryStore, type JournalEntry, type Receiver, type RerunOptions, type Store } from 'posthorn';
import type { ForeseenRerun } from '../../../../src/receiver/handling/ways-in/foresee-rerun.ts';
import { WebhookReceiver } from '../../../../src/receiver/receiver.ts';

/** The options of `rerun` that most tests need. */
export const FIX = { handlers: ['book'], run: 'fix' };

/** A store that knows that an event was handled. */
export async function handledIn({ id }: { readonly id: string }): Promise<Store> {
  const store = createMemoryStore();
  await store.complete({ id, token: 'a delivery', retentionMs: 86_400_000 });
  return store;
}

/** Asks what a rerun would do, as the command line does, which has the receiver itself. */
export function foreseeRerun(
  receiver: Receiver,
  entry: JournalEntry,
  options: RerunOptions = FIX,
): Promise<ForeseenRerun> {
  if (!(receiver instanceof WebhookReceiver)) throw new Error('not a receiver of this build');
  return receiver.foreseeRerun(entry, options);
}
