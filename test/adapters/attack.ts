import type { Receiver, ReceiverOptions } from 'posthorn';
import { expect, test } from 'vitest';
import { BASIC, Endpoint, expectAccepted, type Mount, signed, transfer } from './endpoint.ts';
import { headOf, RawConnection } from './raw-connection.ts';

/** The endpoint under attack, which asks for BASIC credentials, and the connections to it. */
export class Target {
  readonly endpoint: Endpoint;
  readonly #connections: RawConnection[] = [];

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  get url(): string {
    return this.endpoint.url;
  }

  async connect(): Promise<RawConnection> {
    const connection = await RawConnection.open(this.url);
    this.#connections.push(connection);
    return connection;
  }

  /** A whole good delivery, in the bytes that the service would send. */
  requestOf(event: object): string {
    const { body, headers } = signed(event, BASIC);
    return this.head({ ...headers, 'content-length': String(Buffer.byteLength(body)) }) + body;
  }

  /** The head of a good delivery, or of one with other headers. */
  head(headers: Readonly<Record<string, string>>, method = 'POST'): string {
    return headOf(this.url, { ...signed(transfer(), BASIC).headers, ...headers }, method);
  }

  /** Sees a good delivery over the connection be handled. */
  async expectServed(connection: RawConnection): Promise<void> {
    const event = transfer();
    connection.write(this.requestOf(event));
    expectAccepted(await connection.answer(), 'processed', event.id);
  }

  async expectNoLeak(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.hangUp()));
    await expect.poll(this.endpoint.mounted.countConnections, { timeout: 10_000, interval: 5 }).toBe(0);
  }
}

/**
 * Registers a test of one attack. After it the server still serves a good delivery, and no connection is left
 * behind once its clients have closed theirs.
 */
export function attack(
  name: string,
  mount: Mount,
  options: Partial<ReceiverOptions>,
  run: (target: Target) => Promise<void>,
  register?: (receiver: Receiver) => unknown,
): void {
  test(name, async () => {
    const endpoint = await Endpoint.open(mount, {
      options: { authentication: BASIC, ...options },
      ...(register !== undefined && { register }),
    });
    const target = new Target(endpoint);
    await run(target);
    await target.expectServed(await target.connect());
    await target.expectNoLeak();
  });
}

/** One chunk of the chunked transfer coding. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
