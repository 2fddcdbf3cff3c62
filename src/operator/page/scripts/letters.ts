import { codeMeanings } from '../meanings.ts';

/** The list of dead letters, and the page of one. */
export const lettersScript: string = `
/** @type {Field[]} */
const letterFields = [
  { name: 'type', label: 'Type', kind: 'text', hint: 'transfer.*' },
  { name: 'reason', label: 'Reason', kind: 'choice', options: ${JSON.stringify(Object.keys(codeMeanings).sort())} },
  { name: 'since', label: 'Parked since', kind: 'time' },
  { name: 'until', label: 'Parked until', kind: 'time' },
];

/** @param {Route} route */
async function lettersView({ params }) {
  if (!receiver().deadLetters) return [heading('Dead letters'), element('p', 'note', NO_DEAD_LETTERS)];
  const [page, health] = await Promise.all([
    /** @type {Promise<LetterPage>} */ (get('dead-letters', entriesOf(params))),
    /** @type {Promise<Health>} */ (get('health')),
  ]);
  return [
    heading('Dead letters'),
    waitingText(health.deadLetters),
    filterForm('dead-letters', letterFields, params),
    ...(page.unreadable === undefined ? [] : [element('p', 'note', 'One cannot be read: ' + page.unreadable)]),
    ...letterList(page.deadLetters, params),
    ...pager('dead-letters', params, page.after),
    ...(page.deadLetters.length > 0 ? [] : [
      element('p', 'empty', emptyText(params, page.after, NONE_PARKED, 'No dead letter matches.')),
    ]),
  ];
}

const NO_DEAD_LETTERS = 'This receiver keeps no dead letters, so an event is lost after the last retry of its ' +
  'sender. The developers can set the option deadLetters.';

/** @param {Health['deadLetters']} letters */
function waitingText(letters) {
  if (letters?.waiting === undefined) return element('p', 'note', 'They cannot be counted now: see Health.');
  const { more, oldestParkedAt, waiting } = letters;
  if (waiting === 0 && !more) return element('p', 'minor', 'None is waiting.');
  const since = oldestParkedAt === undefined ? [] : [', the oldest since ', timeElement(oldestParkedAt)];
  const count = waiting.toLocaleString('en') + (more ? ' or more' : '') + (waiting === 1 ? ' is' : ' are');
  return element('p', '', count + ' waiting to be replayed or dropped', ...since, '.');
}

const NONE_PARKED = 'No dead letter waits. What was refused is in Deliveries.';

/**
 * @param {URLSearchParams} params
 * @param {string | undefined} after
 * @param {string} none
 * @param {string} noMatch
 */
function emptyText(params, after, none, noMatch) {
  if (after !== undefined) return 'Nothing on this page matches. The search goes on with the next page.';
  if (params.get('after') !== null) return 'That is the end of the list.';
  return Object.keys(entriesOf(params)).length > 0 ? noMatch : none;
}

/**
 * @param {Letter[]} letters
 * @param {URLSearchParams} params
 */
function letterList(letters, params) {
  if (letters.length === 0) return [];
  const deeds = [replayDeed, dropDeed];
  const of = chosen.receiver;
  const some = deeds.map((deed) => button('', '', () => deed({ ids: [...choice.ids] }, of)));
  const showCount = () => some.forEach((each, index) => {
    setText(each, ['Replay ', 'Drop '][index] + choice.ids.size + ' chosen');
    each.disabled = choice.ids.size === 0;
  });
  const choice = new Choice(showCount);
  showCount();
  const all = deeds.map((deed, index) =>
    button(['Replay', 'Drop'][index] + ' all that match…', '', () => deed({ selection: selectionOf(params) }, of)),
  );
  return [
    element('p', 'actions', choice.all(), ...some, ...all),
    element('ul', 'list', ...letters.map((letter) => letterItem(letter, choice))),
  ];
}

/**
 * @param {Letter} letter
 * @param {Choice} choice
 */
function letterItem({ id, eventId, type, reason, message, parkedAt, runningUntil }, choice) {
  const name = typeText(type, 'unreadable event');
  return element(
    'li', '',
    choice.box(id, name + ' ' + id),
    element(
      'div', '',
      element('p', 'line', link(name, 'dead-letters', id), ...reasonParts(reason, runningUntil)),
      element('p', 'message', message),
      element('p', 'minor', element('span', 'id', eventId ?? id), ', parked ', timeElement(parkedAt)),
    ),
  );
}

/**
 * @param {string} reason
 * @param {number | undefined} runningUntil
 */
function reasonParts(reason, runningUntil = 0) {
  const running = runningUntil > Date.now() ? [element('span', 'badge waiting', 'may be running')] : [];
  return [element('span', 'badge parked', reason), ...running];
}

/** @param {Route} route */
async function letterView({ id }) {
  const letter = await letterOf(id);
  if (letter === undefined) return goneParts(id);
  const of = chosen.receiver;
  const { handled, message, reason, runningUntil, type } = letter;
  return [
    element('p', '', link('Dead letters', 'dead-letters')),
    heading(typeText(type, 'An unreadable event')),
    element(
      'p', 'actions',
      button('Replay', '', () => replayDeed({ ids: [id] }, of)),
      button('Drop…', '', () => dropDeed({ ids: [id] }, of)),
    ),
    section('What happened', ...letterStory(letter)),
    section('Error', element('p', 'line', ...reasonParts(reason, runningUntil)),
      element('pre', '', message), ...codeParts(reason)),
    section('Handlers', element('p', '', handledText(handled, 'A replay runs the others, and those without a name.'))),
    ...contentSections(letter),
    section('Facts', letterFacts(letter)),
  ];
}

/**
 * The dead letter of an event, if it has one.
 * @param {string} id
 * @returns {Promise<Letter | undefined>}
 */
async function letterOf(id) {
  try {
    return await get(pathOf('dead-letters', id));
  } catch (error) {
    if (error instanceof RequestError && error.code === 'dead_letter_missing') return undefined;
    throw error;
  }
}

/** @param {string} id */
function goneParts(id) {
  return [
    element('p', '', link('Dead letters', 'dead-letters')),
    heading('No dead letter'),
    element('p', '', 'There is none with the id ' + id + ': it was replayed or dropped, or never parked.'),
    ...(receiver().journal ? [element('p', '', link('The whole story', 'events', id))] : []),
  ];
}

/** @param {Letter} letter */
function letterStory({ attempts, lastTriedAt, parkedAt, receivedAt, runningUntil }) {
  const lastTry = lastTriedAt === undefined ? [] : [' It was last tried ', timeElement(lastTriedAt), '.'];
  const tried = attempts === 0 ? 'No handler was tried.' : 'It was tried ' + times(attempts) + '.';
  const running = runningUntil !== undefined && runningUntil > Date.now()
    ? [element('p', 'note', 'Wait: its handlers may still be running, until ', timeElement(runningUntil), '.')]
    : [];
  return [
    element('p', '', 'The event was received ', timeElement(receivedAt), ', and parked ', timeElement(parkedAt), '. ',
      tried, ...lastTry, ' Its sender does not send it again: it waits here until somebody replays or drops it.'),
    ...running,
  ];
}

/** @param {Letter} letter */
function letterFacts({ id, account, attempts, eventId, lastTriedAt, parkedAt, provider, receivedAt }) {
  return factList([
    ['Id', eventId ?? id],
    ['Key', eventId === undefined ? undefined : id],
    ['Sender', provider],
    ['Account', account],
    ['Received', timeElement(receivedAt)],
    ['Parked', timeElement(parkedAt)],
    ['Last tried', lastTriedAt === undefined ? undefined : timeElement(lastTriedAt)],
    ['Attempts', attempts],
    ['Journal', receiver().journal ? link('The whole story', 'events', id) : undefined],
  ]);
}
`;
