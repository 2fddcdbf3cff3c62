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

  /** @param {ShownEvent} event */
  constructor({ id, type, created_at }) {
    this.item = element(
      'li', '',
      element('p', 'line', element('span', 'name', type), this.state),
      element('p', 'minor', element('span', 'id', id), ', created ' + created_at),
      this.timeline,
    );
  }

  /** @param {Attempt} attempt */
  add(attempt) {
    this.attempts.push(attempt);
    this.timeline.append(attemptItem(attempt));
  }

  /** @param {Pending[]} pending */
  setPending(pending) {
    this.pending = pending;
    const { kind, text } = stateOf(this.attempts, pending);
    this.state.className = 'badge ' + kind;
    setText(this.state, text);
    this.countDown();
  }

  countDown() {
    if (this.pending.length === 0) this.waiting.remove();
    else if (this.timeline.lastChild !== this.waiting) this.timeline.append(this.waiting);
    setText(this.waiting, this.pending.map(pendingText).join('; '));
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
  addNew([...attempts.map(eventOf), ...events, ...pending.map(({ event }) => event)]);
  for (const attempt of attempts) views.get(attempt.event)?.add(attempt);
  const pendingOf = Map.groupBy(pending, ({ event }) => event.id);
  for (const [id, view] of views) view.setPending(pendingOf.get(id) ?? []);
  byId('no-events').hidden = views.size > 0;
  const last = attempts.at(-1);
  if (!isFirst && last !== undefined) setText(byId('announcement'), eventOf(last).type + ', ' + lineOf(last));
}

function countDownEvents() {
  for (const view of views.values()) view.countDown();
}

/** @param {ShownEvent[]} events */
function addNew(events) {
  const added = new Map(events.filter(({ id }) => !views.has(id)).map((event) => [event.id, event]));
  const inOrder = [...added.values()].sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  for (const event of inOrder) {
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

/**
 * @param {Attempt[]} attempts
 * @param {Pending[]} pending
 */
function stateOf(attempts, pending) {
  if (pending.length > 0) {
    const isRetry = pending.some(({ number }) => number > 1);
    return { kind: 'waiting', text: isRetry ? 'failed, a retry is to come' : 'to be delivered' };
  }
  const own = attempts.filter(({ duplicate }) => !duplicate);
  if (own.length === 0) return { kind: 'waiting', text: 'no enabled webhook wants it' };
  if (own.every(({ changed }) => changed)) {
    return own.some(isSuccess)
      ? { kind: 'bad', text: 'accepted, although it was changed' }
      : { kind: 'good', text: 'refused, as it should be' };
  }
  const lastOfWebhook = new Map(own.map((attempt) => [attempt.webhook, attempt]));
  return [...lastOfWebhook.values()].every(isSuccess)
    ? { kind: 'good', text: 'delivered' }
    : { kind: 'bad', text: 'given up: no retry is to come' };
}
`;
