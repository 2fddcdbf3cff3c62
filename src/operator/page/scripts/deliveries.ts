import { runMeanings } from '../meanings.ts';

/** The last deliveries of the process. */
export const deliveriesScript: string = `
/** @type {Field[]} */
const deliveryFields = [
  { name: 'outcome', label: 'Outcome', kind: 'choice', options: ${JSON.stringify(Object.keys(runMeanings))} },
];

/** @param {Route} route */
async function deliveriesView({ params }) {
  /** @type {Deliveries} */
  const { deliveries, since } = await get('deliveries');
  const outcome = params.get('outcome');
  const shown = deliveries.filter((report) => outcome === null || report.outcome === outcome);
  return [
    heading('Deliveries'),
    element('p', 'minor', 'Of the process that answers you, since ', timeElement(since),
      ': the last 200 of events, and 20 other requests. The latest comes first.'),
    filterForm('deliveries', deliveryFields, params),
    ...reportParts(shown, deliveries.length === 0
      ? 'No delivery has come since then. Other processes have lists of their own.'
      : 'No delivery has this outcome.'),
  ];
}

/**
 * @param {ShownReport[]} reports
 * @param {string} empty
 */
function reportParts(reports, empty) {
  if (reports.length === 0) return [element('p', 'empty', empty)];
  return [element('ul', 'list', ...reports.map(reportItem))];
}

/** The ways in which a run begins, unless it is a delivery. */
const sources = new Map([
  ['replay', 'a replay'],
  ['job', 'a job of the queue'],
  ['accept', 'an event that the application fetched'],
  ['rerun', 'a rerun'],
]);

const AT_RISK = 'It was the last try: the sender may stop sending to this address. Tell the developers.';

/** @param {ShownReport} report */
function reportItem({ attempt, code, event, final, handlers, message, outcome, source, ...rest }) {
  const name = event === undefined ? 'a request without an event' : typeText(event.type, 'an unreadable event');
  const key = event?.key ?? event?.id ?? '';
  const title = receiver().journal && event !== undefined ? link(name, 'events', key) : element('span', '', name);
  const notes = [
    ...wayParts(source, rest),
    ...(attempt === undefined ? [] : ['attempt ' + attempt + (final === true ? ', the last' : '')]),
    ...(rest.rerun === undefined ? [] : [[rest.rerun.run, rest.rerun.reason].filter(Boolean).join(': ')]),
    rest.durationMs + ' ms',
  ];
  return element(
    'li', '',
    element(
      'div', '',
      element('p', 'line', title, badge(outcome), code ?? ''),
      ...(message === undefined ? [] : [element('p', 'message', message)]),
      ...(rest.endpointAtRisk ? [element('p', 'note', AT_RISK)] : []),
      ...rest.warnings.map((warning) => element('p', 'note', warning)),
      element('p', 'minor', ...(event === undefined ? [] : [element('span', 'id', event.id), ', ']),
        timeElement(rest.receivedAt), ', ' + notes.join(', ')),
      ...handlers.map(handlerLine),
    ),
  );
}

/**
 * @param {string} source
 * @param {Pick<ShownReport, 'late' | 'status' | 'answerSent'>} report
 */
function wayParts(source, { answerSent, late, status }) {
  if (source !== 'delivery') return [sources.get(source) ?? source];
  // The status of a late end was never sent.
  if (late) return ['ended after its answer'];
  return ['answered ' + status, ...(answerSent ? [] : ['the sender had gone'])];
}

/** @param {HandlerResult} result */
function handlerLine({ durationMs, name = 'a handler without a name', ok, skipped }) {
  const end = skipped === undefined ? (ok ? 'finished' : 'failed') : skipped.replaceAll('_', ' ');
  return element('p', 'minor', name + ': ' + end + ', ' + Math.round(durationMs) + ' ms');
}
`;
