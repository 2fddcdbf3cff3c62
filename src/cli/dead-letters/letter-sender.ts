import type { DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';
import type { StoredSender } from '../../receiver/provider/event-identity.ts';

/** The members that name the sender of an event, for `--json`. The default provider has none. */
export function senderFields({ eventId, provider, account }: DeadLetterSummary): StoredSender {
  return {
    ...(eventId !== undefined && { eventId }),
    ...(provider !== undefined && { provider }),
    ...(account !== undefined && { account }),
  };
}

/** The provider of an event, its account and its sender's id, as far as the dead letter has them. */
export function senderOf({ provider, account, eventId }: DeadLetterSummary): string {
  return [provider, account, eventId].filter((part) => part !== undefined).join(' ');
}

/** The id of a dead letter, with the sender behind it. */
export function nameOf(letter: DeadLetterSummary): string {
  const sender = senderOf(letter);
  return sender === '' ? letter.id : `${letter.id} (${sender})`;
}
