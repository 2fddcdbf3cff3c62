import { Endpoint, type EndpointSettings } from './endpoint.ts';
import type { Platform, Serve } from './platform.ts';
import { RawConnection } from './raw-connection.ts';
import { Waits } from './waits.ts';

/** Where one case is tried: it opens endpoints and connections, and closes them all at the end. */
export class Bench {
  readonly platform: Platform;
  readonly waits: Waits = new Waits();
  readonly #endpoints: Endpoint[] = [];
  readonly #connections: RawConnection[] = [];
  readonly #closing = new AbortController();

  constructor(platform: Platform) {
    this.platform = platform;
  }

  async open(
    settings: Pick<EndpointSettings, 'options' | 'register'> = {},
    serve: Serve = this.platform.serve,
  ): Promise<Endpoint> {
    const { signal } = this.#closing;
    const opening = Endpoint.open(serve, { ...settings, waits: this.waits, signal });
    const endpoint = await this.waits.for('serve to resolve', opening);
    this.#endpoints.push(endpoint);
    return endpoint;
  }

  async connect(url: string): Promise<RawConnection> {
    const connection = await this.waits.for('a connection', RawConnection.open(url, this.waits));
    this.#connections.push(connection);
    return connection;
  }

  /** Resolves once a condition holds. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!this.#closing.signal.aborted && !(await holds())) {
      await this.waits.for(what, new Promise((resolve) => setTimeout(resolve, 5)));
    }
  }

  async hangUp(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.hangUp()));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.hangUp();
    const closing = Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
    await this.waits.for('close to resolve', closing);
  }
}
