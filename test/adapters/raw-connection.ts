import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Seen } from './endpoint.ts';

/** The head of an HTTP/1.1 request, from pairs, so that a header can be sent twice. */
export function headOf(
  url: string,
  headers: Readonly<Record<string, string>> | readonly (readonly [string, string])[],
  method = 'POST',
): string {
  const { host, pathname } = new URL(url);
  const fields = Array.isArray(headers) ? headers : Object.entries(headers);
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}\r\n`;
}

/** A TCP connection that a test writes bytes to, and reads answers of HTTP/1.1 from. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the connection is closed, by whichever side and in whatever way. */
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #ended = false;
  #listeners: (() => void)[] = [];

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    // An IPv6 address has brackets in a URL only.
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#notify();
    });
    // A reset is one of the ways in which a connection may end here.
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#ended = true;
        this.#notify();
        resolve();
      });
    });
    onTestFinished(() => {
      socket.destroy();
    });
  }

  write(bytes: string | Uint8Array): this {
    if (this.socket.writable) this.socket.write(bytes);
    return this;
  }

  /** Writes as much as the peer takes, until the connection is closed or `most` bytes are on their way. */
  async flood(most: number): Promise<void> {
    const chunk = Buffer.alloc(65_536, 'x');
    for (let sent = 0; sent < most && this.socket.writable; sent += chunk.length) {
      if (this.socket.write(chunk)) continue;
      const drained = new Promise<void>((resolve) => this.socket.once('drain', resolve));
      await Promise.race([drained, this.closed]);
    }
  }

  /**
   * The next final answer, whole; 100 (Continue) and the like are skipped. Rejects if the connection ends
   * before.
   */
  async answer(): Promise<Seen> {
    for (;;) {
      const answer = await this.#next();
      if (answer.status >= 200) return answer;
    }
  }

  /** The next answer, be it an interim one. */
  async interim(): Promise<Seen> {
    return this.#next();
  }

  /** Whatever has come and was not read as an answer. */
  get rest(): string {
    return this.#received.toString('latin1');
  }

  /** Ends the connection without a word more. */
  hangUp(): Promise<void> {
    this.socket.destroy();
    return this.closed;
  }

  async #next(): Promise<Seen> {
    const headEnd = await this.#until(() => this.#received.indexOf('\r\n\r\n'));
    const head = this.#received.subarray(0, headEnd).toString('latin1');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers = new Map(lines.map(splitField));
    const length = status < 200 ? 0 : Number(headers.get('content-length') ?? 0);
    const bodyStart = headEnd + 4;
    await this.#until(() => (this.#received.length >= bodyStart + length ? 0 : -1));
    const body = this.#received.subarray(bodyStart, bodyStart + length).toString('utf8');
    this.#received = this.#received.subarray(bodyStart + length);
    return { status, headers, body };
  }

  async #until(find: () => number): Promise<number> {
    for (;;) {
      const index = find();
      if (index !== -1) return index;
      if (this.#ended) throw new Error(`the connection ended before an answer was whole; got: ${this.rest}`);
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
