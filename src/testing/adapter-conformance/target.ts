import type { Receiver, ReceiverOptions } from '../../receiver-interface.ts';
import { expectAccepted } from './answer.ts';
import type { Bench } from './bench.ts';
import type { Check } from './case.ts';
import { BASIC, signed, transfer } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { headOf, type RawConnection } from './raw-connection.ts';

/** The endpoint under attack, which asks for BASIC credentials, and the connections to it. */
export class Target {
  readonly endpoint: Endpoint;
  readonly bench: Bench;

  constructor(endpoint: Endpoint, bench: Bench) {
    this.endpoint = endpoint;
    this.bench = bench;
  }

  /** True if only the server in front of the adapter has to do with connections. */
  get hidesConnections(): boolean {
    return this.bench.platform.hidesConnections;
  }

  connect(): Promise<RawConnection> {
    return this.bench.connect(this.endpoint.url);
  }

  /** A whole good delivery, in the bytes that the service would send. */
  requestOf(event: object): string {
    const { body, headers } = signed(event, BASIC);
    return this.head({ ...headers, 'content-length': String(Buffer.byteLength(body)) }) + body;
  }

  /** The head of a good delivery, or of one with other headers. */
  head(headers: Readonly<Record<string, string>>, method = 'POST'): string {
    return headOf(this.endpoint.url, { ...signed(transfer(), BASIC).headers, ...headers }, method);
  }

  /** Expects that a good delivery over the connection is handled. */
  async expectServed(connection: RawConnection): Promise<void> {
    const event = transfer();
    connection.write(this.requestOf(event));
    expectAccepted(await connection.answer(), 'processed', event.id);
  }

  /** Resolves once no connection is open, if the adapter can count them. */
  async untilNoConnections(): Promise<void> {
    const { countConnections } = this.endpoint.served;
    if (countConnections === undefined) return;
    await this.bench.until('all connections to be gone', async () => (await countConnections()) === 0);
  }
}

/**
 * The check of one attack. After it the server still serves a good delivery, and no connection is left behind
 * once its clients have closed theirs.
 */
export function attack(
  options: Partial<ReceiverOptions>,
  run: (target: Target) => Promise<unknown>,
  register?: (receiver: Receiver) => unknown,
): Check {
  return async (bench) => {
    const endpoint = await bench.open({ options: { authentication: BASIC, ...options }, register });
    const target = new Target(endpoint, bench);
    await run(target);
    await target.expectServed(await target.connect());
    await bench.hangUp();
    await target.untilNoConnections();
  };
}
