import { once } from 'node:events';
import type { Server } from 'node:http';
import { messageOf } from '../receiver/values/foreign-values.ts';
import { CommandError, codeOf } from './failure.ts';

/** Listens, and resolves with the address, such as `http://127.0.0.1:3000`. */
export async function serve(server: Server, port: number, host: string): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const wayOut = codeOf(cause) === 'EADDRINUSE' ? '. Give another --port; 0 takes a free one' : '';
    const message = `cannot listen on ${host}:${port}: ${messageOf(cause)}${wayOut}`;
    throw new CommandError('usage_invalid', message, { cause });
  }
  const address = server.address();
  const actualPort = typeof address === 'object' ? address?.port : undefined;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`;
}

/** Resolves on the first SIGINT, SIGTERM or other of these signals; a second one ends the program at once. */
export async function untilSignal(...others: readonly NodeJS.Signals[]): Promise<void> {
  const heard = new AbortController();
  const options = { signal: heard.signal };
  await Promise.race(['SIGINT', 'SIGTERM', ...others].map((signal) => once(process, signal, options)));
  heard.abort();
}
