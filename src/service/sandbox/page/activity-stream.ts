import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebhookEvent } from '../../../providers/banking-service/event.ts';
import { setImmediate } from '../../../receiver/timing/process-clock.ts';
import type { Answer } from '../answer.ts';
import type { DeliveryAttempt } from '../attempt.ts';
import type { EventHistory } from '../event-history.ts';
import { RefusedError } from '../refused-error.ts';
import type { State } from '../state.ts';
import { shownAttempt, shownEvent, shownState } from './shown-state.ts';

/** The number of attempts that a page gets first. */
const FIRST_ATTEMPTS = 200;

/** More pages than anybody has open. */
const MAX_READERS = 50;

/** The most bytes that all readers together may have left unread. A first message has a megabyte or so. */
const MAX_BUFFERED_BYTES = 33_554_432;

interface Reader {
  readonly response: ServerResponse;
  /** True if its next message replaces everything that it shows. */
  isFirst: boolean;
  /** The last event that was sent; undefined before the first message. */
  lastEvent: WebhookEvent | undefined;
  lastAttempt: DeliveryAttempt | undefined;
}

/**
 * Sends each change to open pages, as server-sent events: the whole state, which is small, and the new events
 * and attempts since the last message.
 */
export class ActivityStream {
  readonly #state: State;
  readonly #history: EventHistory;
  /** By connection. The reader that has not read for the longest time comes first. */
  readonly #readers = new Map<Socket, Reader>();
  #isDue = false;

  constructor(state: State, history: EventHistory) {
    this.#state = state;
    this.#history = history;
    state.onChange(() => this.#changed());
  }

  /** Lets every open page begin anew with its next message, as after a reload. */
  startAnew(): void {
    for (const reader of this.#readers.values()) {
      reader.isFirst = true;
      reader.lastEvent = undefined;
      reader.lastAttempt = undefined;
    }
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
    // The requests of one connection are answered in turn, and the first stream does not end.
    if (this.#readers.has(socket) || this.#readers.size >= MAX_READERS) {
      response.end();
      return;
    }
    const reader = { response, isFirst: true, lastEvent: undefined, lastAttempt: undefined };
    this.#readers.set(socket, reader);
    socket.once('close', () => this.#readers.delete(socket));
    response.on('drain', () => {
      this.#readers.delete(socket);
      this.#readers.set(socket, reader);
      // A reader that lagged behind gets everything that it missed in one message.
      this.#write(reader);
    });
    this.#write(reader);
    this.#makeRoom();
  }

  /** Drops a reader. A browser reconnects by itself, so a page that was only slow does not lose anything. */
  #drop(socket: Socket): void {
    this.#readers.delete(socket);
    socket.destroy();
  }

  /** Drops the reader that has not read for the longest time, if any reader lags behind. */
  #dropStalled(): void {
    const stalled = [...this.#readers].find(([, { response }]) => response.writableNeedDrain);
    if (stalled !== undefined) this.#drop(stalled[0]);
  }

  /** Drops readers until the rest fits into memory. The last one stays, because no other needs its share. */
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

  /** Sends the changes of one turn as one message. */
  #changed(): void {
    if (this.#isDue || this.#readers.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const reader of this.#readers.values()) this.#write(reader);
      this.#makeRoom();
    });
  }

  #write(reader: Reader): void {
    const { response, isFirst } = reader;
    if (response.writableNeedDrain || response.writableEnded) return;
    const events = since(this.#history.events, reader.lastEvent);
    const attempts = since(this.#state.attempts, reader.lastAttempt).slice(-FIRST_ATTEMPTS);
    reader.isFirst = false;
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

/** The items after the last one that was sent, or all items if that one is gone. */
function since<T>(items: readonly T[], last: T | undefined): readonly T[] {
  return last === undefined ? items : items.slice(items.lastIndexOf(last) + 1);
}
