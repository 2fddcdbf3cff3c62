/** The health of the receiver, and the meanings of words. */
export const healthScript: string = `
async function healthView() {
  /** @type {Health} */
  const { closing, deadLetters, journal, lastDelivery, provider, running, store } = await get('health');
  return [
    heading('Health'),
    section('Receiver', factList([
      ['State', stateOf(!closing, closing ? 'closing: new deliveries are refused' : 'open')],
      ['Sender', provider],
      ['Events that run now', running],
      ['Last delivery', lastText(lastDelivery)],
    ])),
    section('Store', ...partOf(store, [['Answered in', Math.round(store.latencyMs) + ' ms']])),
    section('Dead letters', ...(deadLetters === undefined
      ? [element('p', 'note', NO_DEAD_LETTERS)]
      : [...(deadLetters.ok ? [waitingText(deadLetters)] : []), ...partOf(deadLetters, [])])),
    section('Journal', ...(journal === undefined
      ? [element('p', 'note', NO_JOURNAL)]
      : partOf(journal, [
        ['Waiting to be written', journal.waiting],
        ['Left out', journal.leftOut.entries + ' entries, ' + journal.leftOut.bodies + ' bodies'],
      ]))),
  ];
}

/** @param {Health['lastDelivery']} last */
function lastText(last) {
  if (last === undefined) return 'none since this process began';
  return element('span', 'line', badge(last.outcome), last.code ?? '', timeElement(last.receivedAt));
}

/**
 * @param {boolean} isGood
 * @param {string} text
 */
function stateOf(isGood, text) {
  return element('span', 'badge ' + (isGood ? 'good' : 'bad'), text);
}

const MEND = 'Look if its server is there, and tell those who run it.';

/**
 * @param {Part} part
 * @param {[string, string | number][]} facts
 */
function partOf({ error, failingSince, ok }, facts) {
  const list = factList([
    ['State', stateOf(ok, ok ? 'answers' : 'fails')],
    ['Failing since', failingSince === undefined ? undefined : timeElement(failingSince)],
    ...facts,
  ]);
  if (error === undefined) return [list];
  return [list, element('pre', '', error.code + ': ' + error.message), nextStep(MEND)];
}

async function meaningsView() {
  const outcomes = [...outcomeMeanings].map(([outcome, { means, todo }]) => meaningItem(badge(outcome), means, todo));
  const codes = [...codeMeanings].map(([code, { means, todo }]) => meaningItem(element('code', '', code), means, todo));
  return [
    heading('Meanings'),
    section('Outcomes', element('dl', 'facts', ...outcomes)),
    section('Codes of errors', element('dl', 'facts', ...codes)),
  ];
}

/**
 * @param {Element} term
 * @param {string} means
 * @param {string} todo
 */
function meaningItem(term, means, todo) {
  return element('div', '', element('dt', '', term), element('dd', '', means + ' ' + todo));
}
`;
