import type { PosthornError } from '../../errors.ts';
import { refuse } from '../../outcomes/outcome.ts';
import type { EventMembers } from '../../provider/event-identity.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import type { CheckedAcceptOptions } from './accept-options.ts';
import { checkNotAhead, type FetchedEvent, forgottenError, readFetched } from './fetched-event.ts';
import { type EventKnowledge, knowledgeOf, parkedLetter } from './known-event.ts';
import { membersOfRefused } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * What `accept` would do with an event. `new`: run it. `parked`: leave it to a replay. `refused`: it is not
 * an event, or too large, or ahead of the clock. The others are those of {@link EventKnowledge}.
 */
export type Prospect =
  | 'new'
  | 'parked'
  | 'ignored'
  | 'too_old'
  | 'refused'
  | Exclude<EventKnowledge, 'unknown'>;

/** What `accept` would do with an event, and why. */
export interface Foreseen {
  readonly prospect: Prospect;
  /** As far as it could be read. */
  readonly event: EventMembers & { readonly createdAtMs?: number | undefined };
  /** The reason for `too_old` and `refused`. */
  readonly error?: PosthornError | undefined;
}

/** Tells what `accept` would do. Changes nothing. Rejects if the store or an inbox fails. */
export async function foresee(
  services: ReceiverServices,
  event: unknown,
  options: CheckedAcceptOptions,
): Promise<Foreseen> {
  const { router, settings } = services;
  let fetched: FetchedEvent;
  try {
    fetched = readFetched(event, options, settings);
  } catch (thrown) {
    const { error } = refuse(isReadFailure(thrown) ? thrown.cause : thrown);
    return { prospect: 'refused', event: membersOfRefused(thrown), error };
  }
  const { identity } = fetched;
  const routes = router.matchAny(identity.type);
  if (routes.length === 0) return { prospect: 'ignored', event: identity };
  try {
    checkNotAhead(fetched, settings);
  } catch (thrown) {
    return { prospect: 'refused', event: identity, error: refuse(thrown).error };
  }
  const knowledge = await knowledgeOf(services, identity, routes, { mayClaim: false });
  if (knowledge === 'handled' || knowledge === 'running') return { prospect: knowledge, event: identity };
  if ((await parkedLetter(services, identity.key, [])) !== undefined)
    return { prospect: 'parked', event: identity };
  const error = options.allowForgotten ? undefined : forgottenError(fetched, options, settings);
  if (error !== undefined && knowledge === 'unknown') return { prospect: 'too_old', event: identity, error };
  return { prospect: knowledge === 'unknown' ? 'new' : 'uncertain', event: identity };
}
