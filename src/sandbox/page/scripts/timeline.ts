/** The attempts of one event, with request and answer, and what is still to come. */
export const timelineScript: string = String.raw`
/** @param {Attempt} attempt */
function isSuccess({ status }) {
  return status !== undefined && status >= 200 && status <= 299;
}

/**
 * The outcome, or the code of the error, that the answer of a posthorn receiver names.
 * @param {Attempt} attempt
 */
function outcomeOf({ response, error }) {
  if (error !== undefined) return error;
  try {
    const { outcome, code } = JSON.parse(response?.body ?? '');
    return String(outcome ?? code ?? '');
  } catch {
    return '';
  }
}

/**
 * @param {Attempt} attempt
 * @returns {string}
 */
function lineOf(attempt) {
  const { number, status, duplicate } = attempt;
  const name = duplicate ? 'duplicate' : 'attempt ' + number;
  return name + ': ' + [status ?? 'no answer', outcomeOf(attempt)].filter((part) => part !== '').join(' ');
}

/** @param {Attempt} attempt */
function attemptItem(attempt) {
  const { at, durationMs, changed } = attempt;
  const notes = [
    ...(changed ? ['changed on its way'] : []),
    ...agingNotes(attempt),
    at,
    durationMs + ' ms',
  ];
  const line = element(
    'span', 'line',
    element('span', 'badge ' + (isSuccess(attempt) ? 'good' : 'bad'), lineOf(attempt)),
    element('span', 'minor', notes.join(', ')),
  );
  const details = element('details', '', element('summary', '', line));
  // Filled when it is first opened, because two hundred events have as many bodies.
  details.addEventListener('toggle', () => details.append(...exchangeOf(attempt)), { once: true });
  return element('li', '', details);
}

/** @param {Attempt} attempt */
function exchangeOf({ request, response, status, error }) {
  const answer = response === undefined
    ? [element('p', '', 'No answer: ' + (error ?? ''))]
    : [element('pre', '', status + '\n' + headersOf(response)), element('pre', '', response.body)];
  return [
    element('h3', '', 'Request'),
    element('pre', '', 'POST ' + request.url + '\n' + headersOf(request)),
    element('pre', '', request.body),
    element('h3', '', 'Answer'),
    ...answer,
  ];
}

/** @param {Message} message */
function headersOf({ headers }) {
  return Object.entries(headers).map(([name, value]) => name + ': ' + value).join('\n');
}

/** @param {Pending} pending */
function pendingText({ number, duplicate, dueAt }) {
  const name = duplicate ? 'duplicate' : 'attempt ' + number;
  return dueAt <= now() ? name + ' is on its way' : name + ' at ' + isoTime(dueAt) + ', in ' + timeUntil(dueAt);
}
`;
