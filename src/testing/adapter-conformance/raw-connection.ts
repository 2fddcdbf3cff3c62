import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pause } from '../../receiver/timing/process-clock.ts';
import type { Seen } from './answer.ts';
import { Waits } from './waits.ts';

/** Pairs, so that a header can be sent twice, or values by name. */
export type Fields = Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[];

/** The head of an HTTP/1.1 request. */
export function headOf(url: string, headers: Fields, method = 'POST'): string {
  const { host, pathname } = new URL(url);
  const fields = Array.isArray(headers) ? headers : Object.entries(headers);
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}\r\n`;
}

/** One chunk of the chunked transfer coding. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** A TCP connection to write bytes to, and to read answers of HTTP/1.1 from. */
export class RawConnection {
  readonly socket: Socket;
  readonly #waits: Waits;
  readonly #closed: Promise<void>;
  #received: Buffer = Buffer.alloc(0);
  #ended = false;
  #listeners: (() => void)[] = [];

  static async open(url: string, waits: Waits = new Waits()): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    // An IPv6 address has brackets in a URL only.
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket, waits);
  }

  private constructor(socket: Socket, waits: Waits) {
    this.socket = socket;
    this.#waits = waits;
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#notify();
    });
    // A reset is one of the ways in which a connection may end here.
    socket.on('error', () => {});
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#ended = true;
        this.#notify();
        resolve();
      });
    });
  }

  /** Resolves when the connection is closed, by either side and in any way. */
  get closed(): Promise<void> {
    return this.#waits.for('the connection to be closed', this.#closed);
  }

  write(bytes: string | Uint8Array): this {
    if (this.socket.writable) this.socket.write(bytes);
    return this;
  }

  /** Writes a byte every few milliseconds until the connection is closed. */
  async drip(): Promise<void> {
    while (!this.#ended) {
      this.write('{');
      await pause(5);
    }
  }

  /**
   * The next final answer, whole; 100 (Continue) and the like are skipped. Rejects if the connection ends
   * before.
   */
  async answer(): Promise<Seen> {
    for (;;) {
      const answer = await this.interim();
      if (answer.status >= 200) return answer;
    }
  }

  /** The next answer, be it an interim one. */
  interim(): Promise<Seen> {
    return this.#waits.for('an answer', this.#next());
  }

  /** Whatever has come and was not read as an answer. */
  get rest(): string {
    return this.#received.toString('latin1');
  }

  /** Destroys the connection. */
  hangUp(): Promise<void> {
    this.socket.destroy();
    return this.#closed;
  }

  async #next(): Promise<Seen> {
    const head = (await this.#take(() => this.#received.indexOf('\r\n\r\n'), 4)).toString('latin1');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers = new Map(lines.map(splitField));
    const body = status < 200 ? '' : (await this.#body(headers)).toString('utf8');
    return { status, headers, body };
  }

  async #body(headers: Seen['headers']): Promise<Buffer> {
    if (headers.get('transfer-encoding') === 'chunked') return this.#chunks();
    const length = Number(headers.get('content-length') ?? 0);
    return this.#take(() => (this.#received.length >= length ? length : -1));
  }

  async #chunks(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (;;) {
      const line = await this.#take(() => this.#received.indexOf('\r\n'), 2);
      const length = Number.parseInt(line.toString('latin1'), 16);
      chunks.push(await this.#take(() => (this.#received.length >= length + 2 ? length : -1), 2));
      if (length === 0) return Buffer.concat(chunks);
    }
  }

  /** Waits for bytes up to an index that is found, takes them, and drops `skip` bytes behind them. */
  async #take(find: () => number, skip = 0): Promise<Buffer> {
    for (;;) {
      const index = find();
      if (index !== -1) {
        const taken = this.#received.subarray(0, index);
        this.#received = this.#received.subarray(index + skip);
        return taken;
      }
      if (this.#ended) assert.fail(`the connection ended before an answer was whole; got: ${this.rest}`);
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  #notify(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
