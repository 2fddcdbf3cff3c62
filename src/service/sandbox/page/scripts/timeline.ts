/** The attempts of one event, with request and answer, and what is still to come. */
export const timelineScript: string = String.raw`
/** @param {Attempt} attempt */
function attemptItem(attempt) {
  const { at, durationMs, changed, status, error } = attempt;
  const { text, badge } = resultOf(attempt);
  const shownStatus = status === undefined || text === String(status) ? '' : status + ' ';
  const line = element(
    'span', 'line',
    element('span', '', nameOf(attempt) + ': ' + shownStatus, element('span', 'badge ' + badge, text)),
    element('span', 'minor', [
      ...(error === undefined ? [] : [error]),
      ...(changed ? ['changed on its way'] : []),
      ...agingNotes(attempt),
      at,
      durationMs + ' ms',
    ].join(', ')),
  );
  const details = element('details', '', element('summary', '', line));
  // Filled when it is first opened, because two hundred events have as many bodies.
  details.addEventListener('toggle', () => details.append(...exchangeOf(attempt)), { once: true });
  return element('li', '', details);
}

/** @param {Attempt} attempt */
function exchangeOf(attempt) {
  const { request, response, status, error } = attempt;
  const answer = response === undefined
    ? [element('p', '', 'No answer: ' + (error ?? ''))]
    : [element('pre', '', status + '\n' + headersOf(response)), element('pre', '', formatJson(response.body))];
  return [
    element('h3', '', 'Request'),
    element('pre', '', 'POST ' + request.url + '\n' + headersOf(request)),
    element('pre', '', formatJson(request.body)),
    curlPart(attempt),
    element('h3', '', 'Answer'),
    ...answer,
  ];
}

/**
 * The button that shows and copies the command, because a reader wants to see what was copied.
 * @param {Attempt} attempt
 */
function curlPart(attempt) {
  const field = document.createElement('textarea');
  field.readOnly = true;
  field.rows = 4;
  field.hidden = true;
  field.setAttribute('aria-label', 'Command that repeats the request');
  const note = element('p', 'minor');
  const copyCommand = async () => {
    try {
      field.value = curlCommand(await wholeRequest(attempt));
      field.hidden = false;
      say(note, (await copy(field)) + credentialsHint(attempt.request));
    } catch (error) {
      say(note, messageOf(error));
    }
  };
  return element('div', 'command', button('Copy as curl', '', () => void copyCommand()), note, field);
}

/** @param {Message} message */
function headersOf({ headers }) {
  return Object.entries(headers).map(([name, value]) => name + ': ' + value).join('\n');
}

/** @param {Pending} pending */
function pendingText(pending) {
  const { dueAt } = pending;
  const name = nameOf(pending);
  return dueAt <= now() ? name + ' is on its way' : name + ' at ' + isoTime(dueAt) + ', in ' + timeUntil(dueAt);
}
`;
