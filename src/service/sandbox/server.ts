import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { ConfigurationError } from '../../receiver/errors.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { SandboxApp } from './sandbox.ts';

/** Serves the application at one address. */
export class SandboxServer {
  readonly #app: SandboxApp;
  #server: Server | undefined;
  #host: string | undefined;

  constructor(app: SandboxApp) {
    this.#app = app;
  }

  /** The host that the server listens on; undefined before it listens. */
  get host(): string | undefined {
    return this.#host;
  }

  async listen(port = 0, host = '127.0.0.1'): Promise<{ readonly url: string; readonly port: number }> {
    if (this.#server !== undefined)
      throw new ConfigurationError('the sandbox is listening already: it can listen only once');
    // The application refuses a missing Host itself, and says why.
    const server = createServer({ requireHostHeader: false }, this.#app);
    this.#server = server;
    this.#host = host;
    try {
      server.listen(port, host);
      await once(server, 'listening');
    } catch (cause) {
      this.#server = undefined;
      throw new ConfigurationError(`the sandbox cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
        cause,
      });
    }
    const address = server.address();
    if (typeof address !== 'object' || address === null)
      throw new ConfigurationError(`${host} is not an address with a port`);
    return { url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`, port: address.port };
  }

  /** Does not wait for connections, because those that are kept open would never end. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
}
