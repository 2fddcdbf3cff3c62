import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { parseJson } from '../shapes/parse-json.ts';
import { RefusedError } from './refused-error.ts';
import { isAskedFor } from './shown-id.ts';
import { type State, storedEvent } from './state.ts';

/** Older events are found only by their attempts. */
const KEPT_EVENTS = 200;

/** The events that have happened: the page shows, edits and resends them. */
export class EventHistory {
  readonly #state: State;
  #events: WebhookEvent[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  /** The last events, the oldest first, even those that no webhook wants. */
  get events(): readonly WebhookEvent[] {
    return this.#events;
  }

  add(event: WebhookEvent): void {
    this.#events.push(event);
    this.#events.splice(0, this.#events.length - KEPT_EVENTS);
  }

  /**
   * The event as a retry of the service would carry it, by its own id or by the one that the page shows.
   * Throws {@link RefusedError} for an unknown id.
   */
  get(id: string): WebhookEvent {
    const pending = this.#state.pending.findLast(({ event }) => isAskedFor(event.id, id));
    const event =
      this.#lastSent(id) ?? pending?.event ?? this.#events.findLast((each) => isAskedFor(each.id, id));
    if (event === undefined) throw new RefusedError(404, 'Event not found', 'the sandbox has forgotten it');
    return event;
  }

  /**
   * Forgets the events that have ended, with their attempts. Those with a delivery still to come stay as they
   * are.
   */
  clear(): void {
    const { pending, attempts } = this.#state;
    const open = new Set(pending.map(({ event }) => event.id));
    this.#events = this.#events.filter(({ id }) => open.has(id));
    attempts.splice(0, attempts.length, ...attempts.filter(({ event }) => open.has(event)));
    this.#state.save();
  }

  /** The event of the last attempt. A state file keeps attempts, and a changed body is not the event's. */
  #lastSent(id: string): WebhookEvent | undefined {
    const attempt = this.#state.attempts.findLast(({ event, changed }) => isAskedFor(event, id) && !changed);
    return attempt && storedEvent.safeParse(parseJson(attempt.request.body)).data;
  }
}
