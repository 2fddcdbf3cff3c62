import { ConfigurationError } from '../../receiver/errors.ts';
import { pause } from '../../receiver/timing/process-clock.ts';
import { typeNameOf } from '../../receiver/values/foreign-values.ts';
import type { Mountable } from '../../receiver-interface.ts';
import { Endpoint, type EndpointSettings } from './endpoint.ts';
import type { Platform, Serve, ServedAdapter } from './platform.ts';
import { RawConnection } from './raw-connection.ts';
import { Gate, Waits } from './waits.ts';

/** Serves adapters and opens connections for one case, and closes them all at its end. */
export class Bench {
  readonly platform: Platform;
  readonly waits: Waits = new Waits();
  readonly #served: ServedAdapter[] = [];
  readonly #endpoints: Endpoint[] = [];
  readonly #connections: RawConnection[] = [];
  readonly #closing = new AbortController();
  readonly #over = new Gate();

  /**
   * Does what a store or a source of keys does that never answers. It rejects once the case is over, so that
   * nothing of the case goes on.
   */
  readonly unanswered = async (): Promise<never> => {
    await this.#over.opened;
    throw new Error('the case is over');
  };

  constructor(platform: Platform) {
    this.platform = platform;
  }

  async serve(receiver: Mountable, serve: Serve = this.platform.serve): Promise<ServedAdapter> {
    const served = await this.waits.for('serve to resolve', serve(receiver));
    if (typeof served?.url !== 'string' || typeof served.close !== 'function') {
      throw new ConfigurationError(
        `serve must resolve with an object that has url and close; got ${typeNameOf(served)}`,
      );
    }
    this.#served.push(served);
    return served;
  }

  async open(
    settings: Pick<EndpointSettings, 'options' | 'register'> = {},
    serve: Serve = this.platform.serve,
  ): Promise<Endpoint> {
    const { signal } = this.#closing;
    const serving: Serve = (receiver) => this.serve(receiver, serve);
    const endpoint = await Endpoint.open(serving, { ...settings, waits: this.waits, signal });
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
      await this.waits.for(what, pause(5));
    }
  }

  async hangUp(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.hangUp()));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#over.open();
    await this.hangUp();
    // Not awaited, because a handler that never ends delays it.
    for (const { receiver } of this.#endpoints) void receiver.close({ graceMs: 0 });
    await this.waits.for('close to resolve', Promise.all(this.#served.map(({ close }) => close())));
  }
}
