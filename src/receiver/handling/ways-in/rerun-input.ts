import { types } from 'node:util';
import { type ClaimedId, claimedId } from '../../dedupe/claim.ts';
import { enqueueingId, handlingId, rerunId, rerunTurnId } from '../../dedupe/claim-id.ts';
import { ConfigurationError, EventError, UnavailableError } from '../../errors.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import { refuse } from '../../outcomes/outcome.ts';
import type { CheckedProvider } from '../../provider/checked-provider.ts';
import type { EventIdentity } from '../../provider/event-identity.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import { type HeaderValues, readHeaders } from '../../request/headers.ts';
import type { Settings } from '../../settings.ts';
import { propertyOf, show, typeNameOf } from '../../values/foreign-values.ts';
import type { Route } from '../handlers/route.ts';
import { rerunOrigin } from '../run/origin.ts';
import type { RunInput } from '../run/run-input.ts';
import type { Answered } from './answered.ts';
import { isQueued } from './enqueue.ts';
import { parseEvent } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';
import type { CheckedRerunOptions } from './rerun-options.ts';

/** An id that a rerun holds while its handler runs. */
interface IdToHold {
  readonly claimed: ClaimedId;
  /** The work that is under way if the id is busy. */
  readonly busyWith: string;
}

/** The input for the rerun of one handler. */
export interface RerunInput extends Omit<RunInput, 'deadline' | 'deadlineAt'> {
  readonly toHold: readonly IdToHold[];
}

/**
 * Reads an entry of the journal for the reruns of its handlers, one for each name. Throws {@link EventError}
 * for an entry without a body, and if a handler of the options has not finished. Throws {@link
 * UnavailableError} for an entry of another provider, and {@link ConfigurationError} for a handler that takes
 * no events of this type.
 */
export function readReruns(
  { router, settings }: Pick<ReceiverServices, 'router' | 'settings'>,
  entry: JournalEntry,
  { handlers, rerun }: CheckedRerunOptions,
): readonly [RerunInput, ...RerunInput[]] {
  const { account, headers, rawBody } = contentOf(entry, handlers, settings.provider);
  const { event, identity } = parseEvent({ account, headers, rawBody }, settings);
  const matching = router.matchAny(identity.type);
  const idsOfEvent = idsToHold(identity, matching, settings);
  const content = { rawBody, headers, receivedAt: entry.firstReceivedAt, origin: rerunOrigin, rerun };
  const inputFor = (handler: string): RerunInput => {
    const claimId = rerunId(handler, rerun.run, identity.key);
    const toHold = [...idsOfEvent, turnOf(handler, identity, settings)];
    const routes = [routeOf(handler, identity, matching)];
    return { identity, event, ...content, claimId, routes, toHold };
  };
  const [first, ...others] = handlers;
  return [inputFor(first), ...others.map(inputFor)];
}

function routeOf(handler: string, { type }: EventIdentity, matching: readonly Route[]): Route {
  const route = matching.find(({ name }) => name === handler);
  if (route !== undefined) return route;
  throw new ConfigurationError(
    `the handler ${show(handler)} takes no events of the type ${show(type)} any more: look at its patterns in on()`,
  );
}

/** Returns the answer to an entry that {@link readReruns} has refused. */
export function refuseEntry({ account, id, type }: JournalEntry, error: unknown): Answered {
  return { event: { account, id, type }, answer: refuse(isReadFailure(error) ? error.cause : error) };
}

/** With handlers for workers, the run before the answer has an id of its own. */
function idsToHold(
  { createdAtMs, key }: EventIdentity,
  routes: readonly Route[],
  settings: Settings,
): readonly IdToHold[] {
  const ids = routes.some(isQueued) ? [enqueueingId(key), handlingId(key)] : [handlingId(key)];
  return ids.map((claimId) => ({
    claimed: claimedId({ claimId, createdAtMs }, settings),
    busyWith: 'a delivery, a job, a replay, an accept or another rerun of this event',
  }));
}

/**
 * Once it is released, nothing depends on the turn. Until then the store must know it: a renewal that comes
 * late would make it anew.
 */
function turnOf(
  handler: string,
  { key }: EventIdentity,
  { leaseMs, maxRunMs }: Pick<Settings, 'leaseMs' | 'maxRunMs'>,
): IdToHold {
  return {
    claimed: { claimId: rerunTurnId(handler, key), retentionMs: Math.max(leaseMs, maxRunMs) },
    busyWith: `another rerun of the handler ${show(handler)} for this event`,
  };
}

/** The parts of a journal's entry that a rerun reads. */
interface EntryContent {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly account: string | undefined;
}

/**
 * Returns the content of an entry whose handlers of these names are to run once more. Throws
 * {@link EventError} for an entry without a body, and for a handler that has not finished; throws
 * {@link UnavailableError} for an entry of another provider.
 */
function contentOf(
  entry: JournalEntry,
  handlers: readonly string[],
  provider: Pick<CheckedProvider, 'name'>,
): EntryContent {
  const { account, handled, headers = {}, id, outcome, rawBody } = entry;
  // A duplicate made the entry after a crash had lost the record: neither a retry nor a replay runs its
  // handlers.
  if (outcome === 'processed' && handled.length === 0 && rawBody === undefined) throw withoutBody(entry);
  // Checked before the provider, because a journal may have the events of several senders.
  const unfinished = handlers.filter((name) => !handled.includes(name));
  if (unfinished.length > 0) throw notFinished(entry, unfinished);
  if (entry.provider !== provider.name)
    throw new UnavailableError(
      'provider_mismatch',
      `the event ${show(id)} is of the provider ${show(entry.provider)}, and this receiver is one of ` +
        `${show(provider.name)}: give it to a receiver of its own provider`,
    );
  if (rawBody === undefined) throw withoutBody(entry);
  return { rawBody, headers: readHeaders(headers), account };
}

function withoutBody({ id, type }: JournalEntry): EventError {
  const message =
    `the journal has no body of the event ${show(id)}: it keeps none (bodies: false), its memory was full, or a ` +
    'crash lost the record of it; fetch the event from its sender';
  return new EventError('body_missing', message, { id, type });
}

function notFinished({ handled, id, type }: JournalEntry, unfinished: readonly string[]): EventError {
  const finished = handled.length === 0 ? 'none' : handled.map(show).join(', ');
  const message =
    `${unfinished.map(show).join(', ')} did not finish the event ${show(id)}, by its journal; finished: ${finished}. ` +
    'A handler that failed is left to a retry of the sender, or to the replay of the dead letter';
  return new EventError('handler_unfinished', message, { id, type });
}

/**
 * Throws {@link ConfigurationError} for a value that is not an entry. It may come from `journal.get`, which
 * resolves with undefined for an unknown id.
 */
export function checkEntry(entry: unknown): void {
  const [id, provider, handled] = ['id', 'provider', 'handled'].map((name) => propertyOf(entry, name));
  const isEntry = typeof id === 'string' && typeof provider === 'string' && Array.isArray(handled);
  if (!isEntry || !Number.isFinite(propertyOf(entry, 'firstReceivedAt')))
    throw new ConfigurationError(
      `rerun() takes an entry of a journal, got ${show(entry)}: if journal.get() found none, the event never came, ` +
        'or was pruned',
    );
  const rawBody = propertyOf(entry, 'rawBody');
  // The command prints it as base64: as a text, it would be read as if it were the body.
  if (rawBody === undefined || types.isUint8Array(rawBody)) return;
  throw new ConfigurationError(
    `rawBody of the entry of ${show(id)} must be the bytes that journal.get() gives, a Uint8Array; ` +
      `got ${typeNameOf(rawBody)}`,
  );
}
