import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';

/** Only servers of HTTP/1 keep connections alive, and can close them. */
type AnyServer = Server & { keepAliveTimeout?: number; readonly closeAllConnections?: () => void };

/** Lets a server, or one with this listener, listen until the test is over; resolves with its origin. */
export async function listenUntilTheEnd(served: AnyServer | RequestListener): Promise<string> {
  const server = typeof served === 'function' ? createServer(served) : served;
  const url = await startServer(server);
  onTestFinished(() => stopServer(server));
  return url;
}

/** Lets a server listen on a free port; resolves with its origin, such as `http://127.0.0.1:4711`. */
export async function startServer(server: AnyServer): Promise<string> {
  // A client that stood still for a while must not meet a connection that is just being closed.
  if (server.keepAliveTimeout !== undefined) server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `${server instanceof TlsServer ? 'https' : 'http'}://127.0.0.1:${address.port}`;
}

/** Closes a server; resolves once its connections have ended. */
export async function stopServer(server: AnyServer): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections?.();
  });
}
