import { types } from 'node:util';
import { enqueueingId, handlingId, rerunId, rerunTurnId } from '../../dedupe/claim-id.ts';
import { ConfigurationError, EventError, UnavailableError } from '../../errors.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import type { CheckedProvider } from '../../provider/checked-provider.ts';
import { type HeaderValues, readHeaders } from '../../request/headers.ts';
import { propertyOf, show, typeNameOf } from '../../values/foreign-values.ts';
import type { Route } from '../handlers/route.ts';
import { rerunOrigin } from '../run/origin.ts';
import type { RunInput } from '../run/run-input.ts';
import { isQueued } from './enqueue.ts';
import { parseEvent } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';
import type { CheckedRerunOptions } from './rerun-options.ts';

/** An id that a rerun holds while its handler runs. */
interface HeldWhileRunning {
  readonly claimId: string;
  /** Says what runs if the id is busy. */
  readonly busyWith: string;
}

/** The input for the rerun of one handler. */
export interface RerunInput extends Omit<RunInput, 'deadline'> {
  readonly toHold: readonly HeldWhileRunning[];
}

/**
 * Reads an entry of the journal for the rerun of one of its handlers. Throws {@link EventError} for an entry
 * without a body, and if a handler of the options has not finished; throws {@link UnavailableError} for an
 * entry of another provider, and {@link ConfigurationError} for a handler that takes no events of this type.
 */
export function readRerun(
  { router, settings }: Pick<ReceiverServices, 'router' | 'settings'>,
  entry: JournalEntry,
  handler: string,
  { handlers, rerun }: CheckedRerunOptions,
): RerunInput {
  const content = contentOf(entry, handlers, settings.provider);
  const { event, identity } = parseEvent(content, settings);
  const { key, type } = identity;
  const matching = router.matchAny(type);
  const route = matching.find(({ name }) => name === handler);
  if (route === undefined)
    throw new ConfigurationError(
      `the handler ${show(handler)} takes no events of the type ${show(type)} any more: look at its patterns in on()`,
    );
  const claimId = rerunId(handler, rerun.run, key);
  const deadlineAt = settings.now() + settings.maxRunMs;
  const of = { identity, event, ...content, deadlineAt, rerun };
  return { ...of, claimId, routes: [route], origin: rerunOrigin, toHold: idsToHold(key, handler, matching) };
}

/** With handlers for workers, the run before the answer has an id of its own. */
function idsToHold(key: string, handler: string, routes: readonly Route[]): readonly HeldWhileRunning[] {
  const ofEvent = routes.some(isQueued) ? [enqueueingId(key), handlingId(key)] : [handlingId(key)];
  const busyWith = 'a delivery, a job, a replay or another rerun of this event is being handled';
  return [
    ...ofEvent.map((claimId) => ({ claimId, busyWith })),
    {
      claimId: rerunTurnId(handler, key),
      busyWith: `another rerun of the handler ${show(handler)} for this event is running`,
    },
  ];
}

/** The parts of a journal's entry that a rerun reads. */
interface EntryContent {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly account: string | undefined;
  readonly receivedAt: number;
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
  const { account, firstReceivedAt, handled, headers = {}, id, rawBody, type } = entry;
  if (entry.provider !== provider.name)
    throw new UnavailableError(
      'provider_mismatch',
      `the event ${show(id)} is of the provider ${show(entry.provider)}, and this receiver is one of ` +
        `${show(provider.name)}: give it to a receiver of its own provider`,
    );
  const unfinished = handlers.filter((name) => !handled.includes(name));
  if (unfinished.length > 0) throw notFinished(entry, unfinished);
  if (rawBody === undefined) {
    const message =
      `the journal has no body of the event ${show(id)}: it keeps none (bodies: false), or its memory was full; ` +
      'fetch the event from its sender';
    throw new EventError('body_missing', message, { id, type });
  }
  // The command prints it as base64: as a text, it would be read as if it were the body.
  if (!types.isUint8Array(rawBody))
    throw new ConfigurationError(
      `rawBody of the entry of ${show(id)} must be the bytes that journal.get() gives, a Uint8Array; ` +
        `got ${typeNameOf(rawBody)}`,
    );
  return { rawBody, headers: readHeaders(headers), account, receivedAt: firstReceivedAt };
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
  const handled = propertyOf(entry, 'handled');
  const isEntry = typeof propertyOf(entry, 'id') === 'string' && Array.isArray(handled);
  if (isEntry && Number.isFinite(propertyOf(entry, 'firstReceivedAt'))) return;
  throw new ConfigurationError(
    `rerun() takes an entry of a journal, got ${show(entry)}: if journal.get() found none, the event never came, ` +
      'or was pruned',
  );
}
