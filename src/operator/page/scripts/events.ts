import { journalOutcomes } from '../../../receiver/journal/journal.ts';

/** The journal: the list of events, the story of one, and reruns. */
export const eventsScript: string = `
/** @type {Field[]} */
const eventFields = [
  { name: 'id', label: 'Id', kind: 'text' },
  { name: 'resource', label: 'Resource', kind: 'text' },
  { name: 'type', label: 'Type', kind: 'text', hint: 'transfer.*' },
  { name: 'outcome', label: 'Outcome', kind: 'choice', options: ${JSON.stringify(journalOutcomes)} },
  { name: 'since', label: 'Received since', kind: 'time' },
  { name: 'until', label: 'Received until', kind: 'time' },
];

const NO_JOURNAL = 'This receiver has no journal, so nothing tells which events came before. ' +
  'The developers can set the option journal.';

const NO_EVENTS = 'The journal has no event: none has come since it was set up, or they were pruned.';

/** @param {Route} route */
async function eventsView({ params }) {
  if (!receiver().journal) return [heading('Journal'), element('p', 'note', NO_JOURNAL)];
  const id = params.get('id');
  if (id !== null) {
    location.replace(addressOf('events', id));
    return [];
  }
  /** @type {EntryPage} */
  const { after, events } = await get('events', entriesOf(params));
  return [
    heading('Journal'),
    element('p', 'minor', 'Each event that came, the oldest first. ', ...sinceLinks()),
    filterForm('events', eventFields, params),
    ...entryList(events, params),
    ...pager('events', params, after),
    ...(events.length > 0 ? [] : [
      element('p', 'empty', emptyText(params, after, NO_EVENTS, 'No event matches.')),
    ]),
  ];
}

/** Links to the latest events, which are at the end of the list. */
function sinceLinks() {
  const hour = 3_600_000;
  const links = /** @type {[string, number][]} */ ([['The last hour', hour], ['The last day', 24 * hour]]);
  return links.flatMap(([text, ms]) => [link(text, 'events', '', { since: String(Date.now() - ms) }), ' ']);
}

/**
 * @param {Entry[]} events
 * @param {URLSearchParams} params
 */
function entryList(events, params) {
  if (events.length === 0) return [];
  const names = [...new Set(events.flatMap(({ handled }) => handled))].sort();
  const of = chosen.receiver;
  const some = button('', '', () => rerunDeed({ ids: [...choice.ids] }, names, of));
  const choice = new Choice(() => {
    setText(some, 'Rerun ' + choice.ids.size + ' chosen…');
    some.disabled = choice.ids.size === 0;
  });
  choice.onChange();
  const all = button('Rerun all that match…', '', () => rerunDeed({ selection: selectionOf(params) }, names, of));
  return [
    element('p', 'actions', choice.all(), some, all),
    element('ul', 'list', ...events.map((entry) => entryItem(entry, choice))),
  ];
}

/**
 * @param {Entry} entry
 * @param {Choice} choice
 */
function entryItem({ id, key = id, type, outcome, code, firstReceivedAt, deliveries, resource }, choice) {
  const name = typeText(type, 'unreadable event');
  const about = resource === undefined ? '' : ', about ' + resource;
  return element(
    'li', '',
    choice.box(key, name + ' ' + id),
    element(
      'div', '',
      element('p', 'line', link(name, 'events', key), badge(outcome), code ?? ''),
      element('p', 'minor', element('span', 'id', id), about + ', received ', timeElement(firstReceivedAt),
        deliveries > 1 ? ', ' + deliveries + ' deliveries' : ''),
    ),
  );
}

/** @param {Route} route */
async function eventView({ id }) {
  /** @type {Entry} */
  const entry = await get(pathOf('events', id));
  const { code, handled, key = entry.id, outcome, type } = entry;
  const [parked, { deliveries }] = await Promise.all([
    parkedParts(entry),
    /** @type {Promise<Deliveries>} */ (get('deliveries')),
  ]);
  const own = deliveries.filter(({ event }) => event !== undefined && (event.key ?? event.id) === key);
  const of = chosen.receiver;
  const rerun = button('Rerun…', '', () => rerunDeed({ ids: [key] }, handled, of));
  rerun.disabled = handled.length === 0;
  return [
    element('p', '', link('Journal', 'events')),
    heading(typeText(type, 'An unreadable event')),
    element('p', 'actions', rerun),
    section('What happened', element('p', 'line', badge(outcome), code ?? ''), ...eventStory(entry),
      ...meaningParts(entry), ...parked),
    section('Handlers', element('p', '', handledText(handled, 'Only a rerun runs them again.'))),
    section('In this process', ...reportParts(own, 'This process has not handled it lately: another one may have.')),
    ...contentSections(entry),
    section('Facts', entryFacts(entry)),
  ];
}

/** @param {Entry} entry */
function eventStory({ attempts, createdAt, deliveries, firstReceivedAt, lastReceivedAt }) {
  const created = createdAt === undefined ? ['It '] : ['It happened ', timeElement(createdAt), ' and '];
  const again = deliveries > 1
    ? ['; it was delivered ' + deliveries + ' times, the last time ', timeElement(lastReceivedAt)]
    : [];
  const tried = attempts === 0 ? 'No handler was tried.' : 'Its handlers were tried ' + times(attempts) + '.';
  return [element('p', '', ...created, 'was first received ', timeElement(firstReceivedAt), ...again, '. ', tried)];
}

/** @param {Entry} entry */
function entryFacts({ id, account, deliveries, key, attempts, provider, resource }) {
  return factList([
    ['Id', id],
    ['Key', key],
    ['Sender', provider],
    ['Account', account],
    ['Resource', resource === undefined ? undefined : link(resource, 'events', '', { resource })],
    ['Deliveries', deliveries],
    ['Attempts', attempts],
  ]);
}

/**
 * The dead letter of a parked event. The journal is there though the dead letters may be away.
 * @param {Entry} entry
 * @returns {Promise<Element[]>}
 */
async function parkedParts({ id, key = id, outcome }) {
  if (!receiver().deadLetters) return [];
  try {
    const letter = await letterOf(key);
    if (letter !== undefined)
      return [element('p', '', link('Its dead letter', 'dead-letters', key)), element('pre', '', letter.message)];
    return outcome === 'parked' ? [element('p', '', 'Its dead letter is gone: somebody has dropped it.')] : [];
  } catch (error) {
    return [problemPart(error)];
  }
}

/**
 * The meaning of an outcome, and the next step unless a code says more.
 * @param {Entry} entry
 */
function meaningParts({ code, outcome }) {
  const meaning = outcomeMeanings.get(outcome);
  if (meaning === undefined) return code === undefined ? [] : codeParts(code);
  const means = element('p', '', meaning.means);
  return code === undefined ? [means, nextStep(meaning.todo)] : [means, ...codeParts(code)];
}

/**
 * @param {DeedBody} choice
 * @param {string[]} names
 * @param {string} receiver
 */
function rerunDeed(choice, names, receiver) {
  const fields = document.createElement('form');
  const boxes = names.map((name) => {
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.name = 'handler';
    box.value = name;
    return element('label', '', box, ' ' + name);
  });
  const run = labelled({ name: 'run', label: 'Name of this rerun', kind: 'text' }, runName());
  const reason = labelled({ name: 'reason', label: 'Reason', kind: 'text' }, '');
  const none = names.length === 0 ? [element('p', 'note', 'No named handler has finished these events.')] : [];
  fields.append(element('fieldset', '', element('legend', '', 'Handlers'), ...boxes, ...none), run,
    element('p', 'minor', 'Under one name, each handler runs once for each event. To go on with a rerun that stopped, ' +
      'give its name.'), reason);
  const bodyOf = () => {
    const data = new FormData(fields);
    const why = String(data.get('reason') ?? '').trim();
    const handlers = data.getAll('handler').map(String);
    return { ...choice, handlers, run: String(data.get('run') ?? ''), ...(why === '' ? {} : { reason: why }) };
  };
  fields.addEventListener('submit', (submission) => submission.preventDefault());
  new Deed({
    title: 'Rerun handlers', verb: 'Rerun', path: 'events/rerun', body: choice, receiver, fields, bodyOf,
    warning: 'Finished handlers run once more. A payment happens again, unless its handler prevents it.',
  }).open();
}

function runName() {
  return [...known.operator.name].slice(0, 60).join('') + ' ' + new Date().toISOString().slice(0, 19) + 'Z';
}
`;
