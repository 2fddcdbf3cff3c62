import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebhookEvent } from '../../events/event.ts';
import type { Answer } from '../answer.ts';
import type { DeliveryAttempt } from '../attempt.ts';
import { RefusedError } from '../refused-error.ts';
import type { State } from '../state.ts';
import { shownAttempt, shownEvent, shownState } from './shown-state.ts';

/** How many events and attempts a page gets at first. */
const FIRST_ITEMS = 200;

/** More pages than anybody has open. */
const MAX_READERS = 50;

/** The most bytes that all readers together may have left unread. A first message has a megabyte or so. */
const MAX_BUFFERED_BYTES = 33_554_432;

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
  /** By their connections. The reader that has taken nothing for the longest time comes first. */
  readonly #readers = new Map<Socket, Reader>();
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

  /** The answer to a page that opens the stream. Throws {@link RefusedError} if too many read already. */
  streamAnswer(): Answer {
    if (this.#readers.size >= MAX_READERS) this.#dropStalled();
    if (this.#readers.size >= MAX_READERS) {
      throw new RefusedError(503, 'Too many readers', `${MAX_READERS} pages are open: close some of them`);
    }
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      contentType: 'text/event-stream',
      stream: (response) => this.#open(response),
    };
  }

  close(): void {
    for (const { response } of this.#readers.values()) response.end();
  }

  #open(response: ServerResponse): void {
    const { socket } = response.req;
    // The requests of one connection are answered one after the other, and the first stream does not end.
    if (this.#readers.has(socket) || this.#readers.size >= MAX_READERS) {
      response.end();
      return;
    }
    const reader = { response, lastEvent: undefined, lastAttempt: undefined };
    this.#readers.set(socket, reader);
    socket.once('close', () => this.#readers.delete(socket));
    response.on('drain', () => {
      this.#readers.delete(socket);
      this.#readers.set(socket, reader);
      // A reader that lagged behind gets everything of meanwhile in one message.
      this.#write(reader);
    });
    this.#write(reader, true);
    this.#makeRoom();
  }

  /** Browsers connect again by themselves, so a page that was only slow loses nothing. */
  #drop(socket: Socket): void {
    this.#readers.delete(socket);
    socket.destroy();
  }

  /** Drops the reader that took nothing for the longest time, if one has not taken everything. */
  #dropStalled(): void {
    const stalled = [...this.#readers].find(([, { response }]) => response.writableNeedDrain);
    if (stalled !== undefined) this.#drop(stalled[0]);
  }

  /** The last reader stays: nobody else needs its room. */
  #makeRoom(): void {
    let bytes = 0;
    for (const { response } of this.#readers.values()) bytes += response.writableLength;
    for (const [socket, { response }] of this.#readers) {
      if (bytes <= MAX_BUFFERED_BYTES || this.#readers.size === 1) return;
      if (!response.writableNeedDrain) continue;
      bytes -= response.writableLength;
      this.#drop(socket);
    }
  }

  /** Changes of one turn make one message. */
  #changed(): void {
    if (this.#isDue || this.#readers.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const reader of this.#readers.values()) this.#write(reader);
      this.#makeRoom();
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
      events: events.map(shownEvent),
      attempts: attempts.map(shownAttempt),
    };
    response.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}

/** What follows the last item that was sent; everything if that is none of them any more. */
function since<T>(items: readonly T[], last: T | undefined): readonly T[] {
  return last === undefined ? items : items.slice(items.lastIndexOf(last) + 1);
}
