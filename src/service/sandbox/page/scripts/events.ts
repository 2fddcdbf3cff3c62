/** The list of events, the newest first, each with its timeline. */
export const eventsScript: string = String.raw`
/** Older events leave the page. */
const SHOWN_EVENTS = 200;

/** One event of the list. Open parts stay open, and the focus stays. */
class EventView {
  /** @type {Attempt[]} */
  attempts = [];
  /** @type {Pending[]} */
  pending = [];
  state = element('span', 'badge');
  timeline = element('ol', '');
  waiting = element('li', 'minor');
  note = element('p', 'minor');

  /** @param {ShownEvent} event */
  constructor({ id, type, created_at }) {
    this.type = type;
    const actions = element(
      'span', 'actions',
      button('Resend', type + ' ' + id, () => void this.try(() => resend(id))),
      button('Edit and send', type + ' ' + id, () => void this.try(() => edit(id))),
    );
    this.item = element(
      'li', '',
      element('p', 'line', element('span', 'name', type), this.state, actions),
      element('p', 'minor', element('span', 'id', id), ', created ' + created_at),
      this.note,
      this.timeline,
    );
    this.showState();
  }

  /** @param {Attempt} attempt */
  add(attempt) {
    setText(this.note, '');
    this.attempts.push(attempt);
    this.timeline.append(attemptItem(attempt));
  }

  /** Shows the state that follows from the attempts and from what is still to come. */
  showState() {
    const { badge, text } = stateOf(this.attempts, this.pending);
    this.state.className = 'badge ' + badge;
    setText(this.state, text);
    this.countDown();
  }

  countDown() {
    if (this.pending.length === 0) this.waiting.remove();
    else if (this.timeline.lastChild !== this.waiting) this.timeline.append(this.waiting);
    setText(this.waiting, this.pending.map(pendingText).join('; '));
  }

  /** @param {() => Promise<void>} action */
  async try(action) {
    setText(this.note, '');
    try {
      await action();
    } catch (error) {
      say(this.note, messageOf(error));
    }
  }
}

/** @type {Map<string, EventView>} */
const views = new Map();

/** @param {Activity} activity */
function showEvents({ isFirst, events, attempts, pending }) {
  if (isFirst) {
    views.clear();
    byId('events').replaceChildren();
  }
  addNew([...attempts.map(eventOf), ...pending.map(({ event }) => event), ...events]);
  const pendingOf = Map.groupBy(pending, ({ event }) => event.id);
  // The others stay untouched: a busy sandbox sends many messages, and shows two hundred events.
  const changed = new Set([...views].flatMap(([id, view]) => (view.pending.length > 0 ? [id] : [])));
  for (const attempt of attempts) {
    views.get(attempt.event)?.add(attempt);
    changed.add(attempt.event);
  }
  for (const id of new Set([...changed, ...pendingOf.keys()])) {
    const view = views.get(id);
    if (view === undefined) continue;
    view.pending = pendingOf.get(id) ?? [];
    view.showState();
  }
  filterEvents();
  const last = attempts.at(-1);
  if (!isFirst && last !== undefined) setText(byId('announcement'), eventOf(last).type + ', ' + lineOf(last));
}

function countDownEvents() {
  for (const view of views.values()) if (view.pending.length > 0) view.countDown();
}

/** @param {ShownEvent[]} events */
function addNew(events) {
  // Events happen in the order of the stream. An event with an age has an earlier time in created_at.
  const added = new Map();
  for (const event of events) {
    if (views.has(event.id)) continue;
    added.delete(event.id);
    added.set(event.id, event);
  }
  for (const event of added.values()) {
    const view = new EventView(event);
    views.set(event.id, view);
    byId('events').prepend(view.item);
  }
  for (const [id, view] of [...views].slice(0, Math.max(0, views.size - SHOWN_EVENTS))) {
    views.delete(id);
    view.item.remove();
  }
}

/**
 * @param {Attempt} attempt
 * @returns {ShownEvent}
 */
function eventOf({ event, at, request }) {
  try {
    const { type, created_at } = JSON.parse(request.body);
    return { id: event, type, created_at };
  } catch {
    // A long body is cut for the page.
    const [, type = '?'] = /^\{"type":"([^"]*)"/.exec(request.body) ?? [];
    return { id: event, type, created_at: at };
  }
}

/** @param {string} id */
async function resend(id) {
  await post('sandbox/events/' + encodeURIComponent(id) + '/resend', {});
}

/**
 * Fills the form with an event. It gets a new id when it is sent.
 * @param {string} id
 */
async function edit(id) {
  const { type, data } = await get('sandbox/events/' + encodeURIComponent(id));
  fillForm(type, data);
}
`;
