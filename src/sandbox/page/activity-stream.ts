import type { ServerResponse } from 'node:http';
import type { WebhookEvent } from '../../events/event.ts';
import type { Answer } from '../answer.ts';
import type { DeliveryAttempt } from '../attempt.ts';
import type { State } from '../state.ts';
import { shownAttempt, shownState } from './shown-state.ts';

/** How many events and attempts a page gets at first. */
const FIRST_ITEMS = 200;

interface Reader {
  readonly response: ServerResponse;
  /** What it was sent last; undefined before the first message. */
  lastEvent: WebhookEvent | undefined;
  lastAttempt: DeliveryAttempt | undefined;
}

/**
 * Tells open pages of each change, as server-sent events: the state as a whole, which is small, and the
 * events and attempts that are new since the message before.
 */
export class ActivityStream {
  readonly #state: State;
  readonly #events: WebhookEvent[] = [];
  readonly #readers = new Set<Reader>();
  #isDue = false;

  constructor(state: State) {
    this.#state = state;
    state.onChange(() => this.#changed());
  }

  /** Keeps an event for the page: one that no webhook wants is shown too. */
  addEvent(event: WebhookEvent): void {
    this.#events.push(event);
    this.#events.splice(0, this.#events.length - FIRST_ITEMS);
  }

  answer(): Answer {
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      contentType: 'text/event-stream',
      stream: (response) => this.#open(response),
    };
  }

  close(): void {
    for (const { response } of this.#readers) response.end();
  }

  #open(response: ServerResponse): void {
    const reader = { response, lastEvent: undefined, lastAttempt: undefined };
    this.#readers.add(reader);
    response.on('close', () => this.#readers.delete(reader));
    // A reader that lagged behind gets everything of meanwhile in one message.
    response.on('drain', () => this.#write(reader));
    this.#write(reader, true);
  }

  /** Changes of one turn make one message. */
  #changed(): void {
    if (this.#isDue || this.#readers.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const reader of this.#readers) this.#write(reader);
    });
  }

  #write(reader: Reader, isFirst = false): void {
    const { response } = reader;
    if (response.writableNeedDrain || response.writableEnded) return;
    const events = since(this.#events, reader.lastEvent);
    const attempts = since(this.#state.attempts, reader.lastAttempt).slice(-FIRST_ITEMS);
    reader.lastEvent = events.at(-1) ?? reader.lastEvent;
    reader.lastAttempt = attempts.at(-1) ?? reader.lastAttempt;
    const message = {
      isFirst,
      ...shownState(this.#state),
      events: events.map(({ id, type, created_at }) => ({ id, type, created_at })),
      attempts: attempts.map(shownAttempt),
    };
    response.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}

/** What follows the last item that was sent; everything if that is none of them any more. */
function since<T>(items: readonly T[], last: T | undefined): readonly T[] {
  return last === undefined ? items : items.slice(items.lastIndexOf(last) + 1);
}
