/** The count before a deed, and its results, in words. */
export const forecastScript: string = `
/** The outcomes that need nobody's attention. */
const GOOD_ENDS = new Set(['processed', 'queued', 'duplicate', 'done', 'dropped', 'missing', 'superseded']);

/** @param {Result[]} results */
function countText(results) {
  if (results.length === 0) return 'nothing done yet';
  const byOutcome = Map.groupBy(results, ({ outcome }) => outcome);
  return [...byOutcome].map(([outcome, each]) => each.length + ' ' + outcome).join(', ');
}

/** @param {Result} result */
function resultItem({ id, type, outcome, code, message }) {
  const text = [code, message].filter((part) => part !== undefined).join(': ');
  const line = element('p', 'line', type ?? '', element('span', 'id', id), badge(outcome));
  const said = text === '' ? (outcomeMeanings.get(outcome)?.means ?? '') : text;
  return element('li', '', element('div', '', line, element('p', 'message', said)));
}

/**
 * @param {Forecast} all
 * @param {Forecast} answer
 */
function addForecast(all, { count, counts, selection, skipped, unreadable }) {
  all.count += count;
  all.selection ??= selection;
  all.unreadable ??= unreadable;
  for (const each of counts) {
    const same = all.counts.find((known) => nameOf(known) === nameOf(each));
    if (same === undefined) all.counts.push({ ...each });
    else same.count += each.count;
  }
  if (skipped === undefined) return;
  const { running, old, others } = all.skipped ?? { running: 0, old: 0, others: 0 };
  all.skipped = { running: running + skipped.running, old: old + skipped.old, others: others + skipped.others };
}

/** @param {Count} count */
function nameOf({ type, reason, prospect, code }) {
  const words = prospect === undefined ? [type ?? 'unreadable', reason] : [prospects.get(prospect) ?? prospect, code];
  return words.filter((word) => word !== undefined).join(', ');
}

/** The prospects of a rerun. */
const prospects = new Map([
  ['wouldRun', 'would run'],
  ['running', 'may be running, and would be tried'],
  ['done', 'done before under this name'],
  ['refused', 'refused'],
  ['missing', 'not in the journal'],
]);

/**
 * @param {Forecast} all
 * @param {DeedBody} body
 */
function forecastParts({ count, counts, skipped, unreadable }, { ids, selection }) {
  const passed = ids === undefined ? 'Left out, because ' : 'Tried all the same, though ';
  const reasons = /** @type {[number, string][]} */ ([
    [skipped?.running ?? 0, 'they may be running'],
    [skipped?.old ?? 0, 'they were parked as too old (replay each from its own page)'],
    [skipped?.others ?? 0, 'they are of another sender than this receiver'],
  ]).filter(([number]) => number > 0);
  return [
    ...(selection === undefined ? [] : [element('p', 'minor', selectionText(selection))]),
    element('p', '', counted(count, 'event') + '.'),
    element('ul', '', ...counts.map((each) => element('li', '', each.count + ' × ' + nameOf(each)))),
    ...reasons.map(([number, text]) => element('p', 'minor', passed + text + ': ' + number + '.')),
    ...(unreadable === undefined ? [] : [element('p', 'note', 'One cannot be read: ' + unreadable)]),
  ];
}

/**
 * The filter that a deed goes by. Fields that were filled in later are not in it.
 * @param {object} selection
 */
function selectionText(selection) {
  const parts = Object.entries(selection).map(([name, value]) =>
    name + ' ' + (typeof value === 'number' ? (timeElement(value).textContent ?? value) : value),
  );
  return parts.length === 0 ? 'All, without a filter.' : 'All with: ' + parts.join(', ') + '.';
}
`;
