import { keyOfRecord } from '../../receiver/journal/record.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { shownContent } from '../content.ts';
import { DeedTime, doDeed } from '../deed.ts';
import { Problem } from '../problem.ts';
import { get, journalOf, type OperatorCall, post, type Route } from '../route.ts';
import { entry, entryPage, rerunEnd } from '../shapes/answers.ts';
import { entryQuery, noQuery, rerunDeed } from '../shapes/requests.ts';
import { chooseEntries, type RerunBody } from './choose.ts';
import { summaryOfEntry } from './entry-filter.ts';
import { foreseeRerun } from './foresee.ts';
import { listEntries } from './list.ts';
import { rerunEvent, rerunOptions } from './rerun.ts';

/** The routes of the journal. */
export const eventRoutes: readonly Route[] = [
  get({
    path: '/api/events',
    operationId: 'listEvents',
    summary: 'List the events of the journal, those first that were first received',
    query: entryQuery,
    answer: entryPage,
    handle: (call, query) => listEntries(journalOf(call), query),
  }),
  get({
    path: '/api/events/{id}',
    operationId: 'getEvent',
    summary: "Get one event of the journal, by its key or its sender's id",
    query: noQuery,
    answer: entry,
    handle: getEvent,
  }),
  post({
    path: '/api/events/rerun',
    operationId: 'rerunEvents',
    summary: 'Run finished handlers of events once more: of up to 20 events, or for 20 seconds',
    query: noQuery,
    body: rerunDeed,
    answer: rerunEnd,
    handle: rerunEvents,
  }),
];

async function getEvent(call: OperatorCall): Promise<object> {
  const { id, identity, options } = call;
  const found = await journalOf(call).get(id);
  if (found === undefined)
    throw new Problem('journal_entry_missing', `the journal has no event with the id ${show(id)}`);
  const content = await shownContent(keyOfRecord(found), found, identity, options.mask);
  return { ...summaryOfEntry(found), ...content };
}

async function rerunEvents(call: OperatorCall, _query: unknown, body: RerunBody): Promise<object> {
  const { identity, operated, options, signal } = call;
  const { receiver } = operated;
  const journal = journalOf(call);
  receiver.checkRerun(rerunOptions(body));
  const time = new DeedTime(signal);
  const request = { journal, settings: receiver.settings, body, time };
  if (body.dryRun === true) return foreseeRerun(receiver, request);
  const { ids, next, selection } = await chooseEntries(request);
  const { handlers, reason, run } = body;
  const deed = { by: identity.name, deed: 'rerun', ids, selection, receiver: operated.name } as const;
  const end = await doDeed({ ...deed, rerun: { handlers, run, reason } }, time, options.audit, (id) =>
    rerunEvent(receiver, request, id),
  );
  return { ...end, next: next(end.results.length) };
}
