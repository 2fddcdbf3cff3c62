import type { PosthornError } from '../../errors.ts';
import { refuse } from '../../outcomes/outcome.ts';
import type { EventMembers } from '../../provider/event-identity.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import type { RawBody } from '../../request/raw-body.ts';
import type { CheckedAcceptOptions } from './accept-options.ts';
import { checkNotAhead, type FetchedEvent, forgottenError, readFetched } from './fetched-event.ts';
import {
  type EventKnowledge,
  haveRecords,
  isHandledInJournal,
  knowledgeOf,
  parkedLetter,
} from './known-event.ts';
import { membersOfRefused } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * The end that an event would have. `wouldRun`: its handlers run. `known`: it was handled. `parked`: it is
 * left to a replay. `unreadable`: it is not an event, or too large, or ahead of the clock. `uncertain`: only
 * a claim shows it.
 */
export type Prospect =
  | 'wouldRun'
  | 'known'
  | 'running'
  | 'parked'
  | 'ignored'
  | 'tooOld'
  | 'unreadable'
  | 'uncertain';

/** The answer to the question about an event. */
export interface Foreseen {
  readonly prospect: Prospect;
  /** As far as it could be read. */
  readonly event: EventMembers & { readonly createdAtMs?: number | undefined };
  /** The reason for `tooOld` and `unreadable`. */
  readonly error?: PosthornError | undefined;
}

const PROSPECTS: Readonly<Record<EventKnowledge, Prospect>> = {
  handled: 'known',
  running: 'running',
  uncertain: 'uncertain',
  unknown: 'wouldRun',
};

/**
 * Tells what `accept` would do with an event. Changes nothing. Rejects if the store, an inbox or the dead
 * letters fail.
 */
export async function foresee(
  services: ReceiverServices,
  event: RawBody,
  options: CheckedAcceptOptions,
): Promise<Foreseen> {
  const { router, settings } = services;
  let fetched: FetchedEvent;
  try {
    fetched = readFetched(event, options, settings);
  } catch (thrown) {
    const { error } = refuse(isReadFailure(thrown) ? thrown.cause : thrown);
    return { prospect: 'unreadable', event: membersOfRefused(thrown), error };
  }
  const { identity } = fetched;
  const routes = router.matchAny(identity.type);
  if (routes.length === 0) return { prospect: 'ignored', event: identity };
  try {
    checkNotAhead(fetched, options, settings);
  } catch (thrown) {
    return { prospect: 'unreadable', event: identity, error: refuse(thrown).error };
  }
  const knowledge = await knowledgeOf(services, identity, routes, { mayClaim: false });
  const prospect = PROSPECTS[knowledge];
  if (prospect === 'known' || prospect === 'running') return { prospect, event: identity };
  if (await haveRecords(routes, identity.key)) return { prospect: 'known', event: identity };
  const error = options.allowForgotten ? undefined : forgottenError(fetched, options, settings);
  if (error !== undefined && (await isHandledInJournal(services, identity.key)))
    return { prospect: 'known', event: identity };
  if ((await parkedLetter(services, identity.key)) !== undefined)
    return { prospect: 'parked', event: identity };
  if (error !== undefined && prospect === 'wouldRun') return { prospect: 'tooOld', event: identity, error };
  return { prospect, event: identity };
}
