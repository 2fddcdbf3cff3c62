import { createHash } from 'node:crypto';
import { UnavailableError } from '../errors.ts';
import { show } from '../values/foreign-values.ts';
import type { CheckedProvider } from './checked-provider.ts';

/** What the receiver knows of an event, whatever form the sender gives it. */
export interface EventIdentity {
  /**
   * Names the event in the store, in dead letters and in queues. For the default provider with one account it
   * is the id; for any other it is made of the provider's name, the account and the id.
   */
  readonly key: string;
  /** The sender's id. */
  readonly id: string;
  /** The type that patterns match. */
  readonly type: string;
  /**
   * When the event was created, in milliseconds since the epoch, with a fraction if the sender gives
   * microseconds; undefined if it does not say.
   */
  readonly createdAtMs?: number | undefined;
  /** The name of the provider. */
  readonly provider: string;
  /** The account of the sender, for a receiver of several. */
  readonly account?: string | undefined;
  /** The id of the resource that the event is about, if the provider says it. */
  readonly resource?: string | undefined;
}

/** The members of an event that could be read. */
export type EventMembers = Partial<Omit<EventIdentity, 'key' | 'provider'>>;

/** The id of an event whose own id could not be read: the SHA-256 of its body, in hex. */
export function idOfBody(rawBody: Uint8Array): string {
  return createHash('sha256').update(rawBody).digest('hex');
}

/** Returns the key of an event of which only some members could be read; undefined without an id. */
export function keyOfMembers(
  { keyOf }: Pick<CheckedProvider, 'keyOf'>,
  { id, account }: EventMembers,
): string | undefined {
  return id === undefined ? undefined : keyOf({ id, account });
}

/** The sender of an event, in a dead letter or a job beside the key. */
export interface StoredSender {
  /** The sender's own id. Absent if it is the key as it stands, or if it could not be read. */
  readonly eventId?: string | undefined;
  /** The name of the provider. Absent for the default provider. */
  readonly provider?: string | undefined;
  /** The account of the sender. Absent if there is one account only. */
  readonly account?: string | undefined;
}

/**
 * Returns the sender as it is stored: the default provider with one account writes nothing, as earlier
 * versions did, which knew no other provider.
 */
export function senderOf(
  { id, account }: EventMembers,
  { storedName }: Pick<CheckedProvider, 'storedName'>,
): StoredSender {
  if (storedName === undefined && account === undefined) return {};
  return {
    ...(id !== undefined && { eventId: id }),
    ...(storedName !== undefined && { provider: storedName }),
    ...(account !== undefined && { account }),
  };
}

/** Throws {@link UnavailableError} for a dead letter or a job of another provider. */
export function checkSender(
  { provider }: StoredSender,
  own: Pick<CheckedProvider, 'name' | 'storedName'>,
  subject: string,
): void {
  if (provider === own.storedName) return;
  const sender = provider === undefined ? 'the default provider' : `the provider ${show(provider)}`;
  throw new UnavailableError(
    'provider_mismatch',
    `${subject} is of ${sender}, and this receiver is one of ${show(own.name)}: give it to a receiver of its own provider`,
  );
}
