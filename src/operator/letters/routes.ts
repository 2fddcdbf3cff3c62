import { show } from '../../receiver/values/foreign-values.ts';
import { shownContent } from '../content.ts';
import { DeedTime, doDeed } from '../deed.ts';
import { Problem } from '../problem.ts';
import { deadLettersOf, get, type OperatorCall, post, type Route } from '../route.ts';
import { letter, letterDeedEnd, letterPage } from '../shapes/answers.ts';
import { letterDeed, letterQuery, noQuery } from '../shapes/requests.ts';
import { chooseLetters, type LetterDeedBody } from './choose.ts';
import { dropLetter, onLetter, replayLetter } from './deeds.ts';
import { foreseeLetters } from './foresee.ts';
import { listLetters } from './list.ts';
import { summaryOf } from './summary.ts';

/** The routes of the dead letters. */
export const letterRoutes: readonly Route[] = [
  get({
    path: '/api/dead-letters',
    operationId: 'listDeadLetters',
    summary: 'List dead letters, the oldest first. A page that few match may have fewer than `limit`',
    query: letterQuery,
    answer: letterPage,
    handle: (call, query) => listLetters(deadLettersOf(call), query),
  }),
  get({
    path: '/api/dead-letters/{id}',
    operationId: 'getDeadLetter',
    summary: 'Get one dead letter',
    query: noQuery,
    answer: letter,
    handle: getLetter,
  }),
  post({
    path: '/api/dead-letters/replay',
    operationId: 'replayDeadLetters',
    summary: 'Run the unfinished handlers of dead letters: up to 20, or for 20 seconds',
    query: noQuery,
    body: letterDeed,
    answer: letterDeedEnd,
    handle: (call, _query, body) => doLetterDeed('replay', call, body),
  }),
  post({
    path: '/api/dead-letters/drop',
    operationId: 'dropDeadLetters',
    summary: 'Give up the events of dead letters: up to 20, or for 20 seconds',
    query: noQuery,
    body: letterDeed,
    answer: letterDeedEnd,
    handle: (call, _query, body) => doLetterDeed('drop', call, body),
  }),
];

async function getLetter(call: OperatorCall): Promise<object> {
  const { id, identity, options } = call;
  const found = await deadLettersOf(call).get(id);
  if (found === undefined) throw new Problem('dead_letter_missing', `no dead letter has the id ${show(id)}`);
  return { ...summaryOf(found), ...(await shownContent(id, found, identity, options.mask)) };
}

async function doLetterDeed(
  deed: 'replay' | 'drop',
  call: OperatorCall,
  body: LetterDeedBody,
): Promise<object> {
  const { identity, operated, options, signal } = call;
  const { receiver } = operated;
  const deadLetters = deadLettersOf(call);
  const time = new DeedTime(signal);
  const request = { deed, deadLetters, settings: receiver.settings, body, time };
  if (body.dryRun === true) return foreseeLetters(request);
  const { ids, next, selection, skipped, unreadable } = await chooseLetters(request);
  const end = await doDeed(
    { by: identity.name, deed, ids, selection, receiver: operated.name },
    time,
    options.audit,
    (id) =>
      onLetter(deadLetters, id, (found) =>
        deed === 'replay' ? replayLetter(receiver, found, time) : dropLetter(receiver, found, deadLetters),
      ),
  );
  return { ...end, skipped, unreadable, next: next(end.results.length) };
}
