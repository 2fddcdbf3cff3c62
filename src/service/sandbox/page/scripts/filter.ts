/** The filter of the list of events, and the button that clears it. */
export const filterScript: string = `
const shownType = select('shown-type');
const shownOutcome = select('shown-outcome');
let knownTypes = '';

shownOutcome.append(
  ...[...outcomeBadges.keys(), OTHER_ANSWER, NO_ANSWER].map((outcome) => new Option(outcome)),
);

/** Hides the events that the reader has not asked for. */
function filterEvents() {
  showTypes();
  let matches = 0;
  for (const { item, type, attempts } of views.values()) {
    const isShown =
      (shownType.value === '' || type === shownType.value) &&
      (shownOutcome.value === '' || attempts.some((each) => resultOf(each).outcome === shownOutcome.value));
    if (item.hidden === isShown) item.hidden = !isShown;
    if (isShown) matches += 1;
  }
  const isFiltered = shownType.value !== '' || shownOutcome.value !== '';
  setText(byId('matches'), isFiltered ? matches + ' of ' + views.size + ' events' : '');
  byId('no-events').hidden = views.size > 0;
}

/** Offers the types of the list. A list that stays as it is keeps an open selection. */
function showTypes() {
  const chosen = shownType.value;
  const types = new Set([...views.values()].map(({ type }) => type));
  if (chosen !== '') types.add(chosen);
  const sorted = [...types].sort();
  if (JSON.stringify(sorted) === knownTypes) return;
  knownTypes = JSON.stringify(sorted);
  shownType.replaceChildren(new Option('all', ''), ...sorted.map((type) => new Option(type)));
  shownType.value = chosen;
}

function refilter() {
  filterEvents();
  setText(byId('announcement'), byId('matches').textContent || 'all events');
}

async function clearEvents() {
  const result = byId('clear-result');
  try {
    await post('sandbox/clear', {});
    setText(byId('announcement'), 'cleared');
    const isOpen = [...views.values()].some(({ pending }) => pending.length > 0);
    setText(result, isOpen ? 'Events with a delivery still to come stay.' : '');
  } catch (error) {
    setText(result, messageOf(error));
  }
}

shownType.addEventListener('change', refilter);
shownOutcome.addEventListener('change', refilter);
byId('clear').addEventListener('click', () => void clearEvents());
`;
