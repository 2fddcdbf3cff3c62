/** Shows the view that the address names. */
export const mainScript: string = `
/**
 * @typedef {(route: Route) => Promise<Element[]>} View
 * @type {ReadonlyMap<string, { title: string, list: View, one?: View }>}
 */
const views = new Map([
  ['dead-letters', { title: 'Dead letters', list: lettersView, one: letterView }],
  ['deliveries', { title: 'Deliveries', list: deliveriesView }],
  ['events', { title: 'Journal', list: eventsView, one: eventView }],
  ['health', { title: 'Health', list: healthView }],
  ['meanings', { title: 'Meanings', list: meaningsView }],
]);

/** @type {Receivers} */
let known = { receivers: [], operator: { name: '', bodies: false } };
let shows = 0;

/** The receiver that the page is about. */
function receiver() {
  const found = known.receivers.find(({ name = '' }) => name === chosen.receiver);
  if (found === undefined) throw new RequestError('No receiver has this name. Choose one above.', 'receiver_unknown');
  return found;
}

/** @param {string} text */
function heading(text) {
  const created = element('h2', '', text);
  created.tabIndex = -1;
  return created;
}

/** @param {unknown} error */
function problemPart(error) {
  const code = error instanceof RequestError ? error.code : '';
  const part = element('p', 'note', messageOf(error));
  return code === '' ? part : element('div', '', part, element('p', 'minor', code));
}

/** Shows the view of the address. What an earlier call still waits for is left out. */
async function show() {
  shows += 1;
  const mine = shows;
  const route = readRoute();
  chosen.receiver = route.params.get('receiver') ?? known.receivers[0]?.name ?? '';
  showFrame(route);
  byId('view').setAttribute('aria-busy', 'true');
  // The old view is not that of the address any more.
  byId('view').inert = true;
  const parts = await partsOf(route);
  if (mine === shows) showView(parts);
}

/** @param {Element[]} parts */
function showView(parts) {
  const main = byId('view');
  main.replaceChildren(...parts);
  main.setAttribute('aria-busy', 'false');
  main.inert = false;
  const title = main.querySelector('h2');
  document.title = title === null ? 'posthorn' : title.textContent + ' – posthorn';
  // A screen reader begins to read here, as after a link to another page.
  if (title instanceof HTMLElement && document.querySelector('dialog[open]') === null) title.focus();
}

/** @param {Route} route */
async function partsOf(route) {
  const view = views.get(route.view);
  try {
    if (view === undefined) throw new RequestError('This page has no view ' + route.view + '.', 'view_unknown');
    const refresh = button('Refresh', '', () => void show());
    const parts = await (route.id !== '' && view.one !== undefined ? view.one(route) : view.list(route));
    return [...parts, element('p', 'actions', refresh, element('span', 'minor', 'As of ', timeElement(Date.now())))];
  } catch (error) {
    return [heading('It cannot be shown'), problemPart(error), button('Try again', '', () => void show())];
  }
}

/** @param {Route} route */
function showFrame({ view }) {
  const links = [...views].map(([name, { title }]) => {
    const created = link(title, name);
    if (name === view) created.setAttribute('aria-current', 'page');
    return element('li', '', created);
  });
  byId('views').replaceChildren(...links);
  select('receiver').value = chosen.receiver;
}

async function start() {
  try {
    known = await get('receivers');
  } catch (error) {
    showView([heading('It cannot be shown'), problemPart(error), button('Try again', '', () => void start())]);
    return;
  }
  setText(byId('identity'), known.operator.name);
  const names = known.receivers.flatMap(({ name }) => name ?? []);
  byId('receivers').hidden = names.length < 2;
  select('receiver').replaceChildren(...names.map((name) => new Option(name, name)));
  await show();
}

select('receiver').addEventListener('change', () => {
  chosen.receiver = select('receiver').value;
  go(readRoute().view);
});
addEventListener('hashchange', () => void show());
void start();
`;
