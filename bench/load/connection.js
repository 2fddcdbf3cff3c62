import { once } from 'node:events';
import { connect } from 'node:net';
import { endOfResponse } from './response.js';

/** More than any of the answers has; one that comes in pieces is put together. */
const RECEIVE_BYTES = 4_096;

/**
 * A connection that is kept open and has one request under way at most. It is written for cheapness: requests
 * are bytes that were made before, and a response as long as an earlier one from its status line to its end
 * is not parsed again.
 */
export class Connection {
  #socket;
  /** @type {Buffer} */
  #received = Buffer.alloc(0);
  #usualLength = -1;
  #usualStatus = 0;

  /**
   * Gets the status of each response, or 0 when the connection was closed.
   *
   * @type {(status: number) => void}
   */
  onResponse = () => {};

  /** @param {number} port */
  constructor(port) {
    const buffer = Buffer.alloc(RECEIVE_BYTES);
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer,
        callback: (length) => {
          this.#receive(buffer.subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.onResponse(0));
  }

  /** Resolves once it is open. */
  async opened() {
    await once(this.#socket, 'connect');
  }

  /**
   * @param {Buffer} request must not change before the response
   */
  send(request) {
    this.#socket.write(request);
  }

  close() {
    this.onResponse = () => {};
    this.#socket.destroy();
  }

  /** @param {Buffer} chunk */
  #receive(chunk) {
    const isUsual = this.#received.length === 0 && chunk.length === this.#usualLength;
    if (isUsual && isSuccess(chunk)) return this.onResponse(this.#usualStatus);
    this.#received = Buffer.concat([this.#received, chunk]);
    const end = endOfResponse(this.#received);
    if (end === undefined) return;
    const status = Number(this.#received.toString('latin1', 9, 12));
    // Whatever follows belongs to no request, and is caught as an answer too many.
    if (this.#received.length !== end) throw new Error('the server sent more than one response');
    if (chunk.length === end && isSuccess(chunk)) {
      this.#usualLength = end;
      this.#usualStatus = status;
    }
    this.#received = Buffer.alloc(0);
    this.onResponse(status);
  }
}

/** Of 200 and of 202. */
const SUCCESS = Buffer.from('HTTP/1.1 20');

/** @param {Buffer} chunk */
function isSuccess(chunk) {
  return chunk.compare(SUCCESS, 0, SUCCESS.length, 0, SUCCESS.length) === 0;
}
