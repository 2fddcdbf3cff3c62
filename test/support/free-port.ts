import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Linux gives connections, and servers that ask for any port, one from 32,768 on. A port below is still free
 * a moment later, and while its server is away. Each worker of vitest has a thousand of them to itself.
 */
const PORTS_OF_A_WORKER = 1_000;
const firstPort = 10_000 + PORTS_OF_A_WORKER * Number(process.env.VITEST_POOL_ID ?? 0);
let given = Math.floor(Math.random() * PORTS_OF_A_WORKER);

/** A port on which nobody listens, for programs that cannot tell which one they got. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    given += 1;
    const port = firstPort + (given % PORTS_OF_A_WORKER);
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

/** Starts a server on a free port; on another one where somebody was quicker. */
export async function onFreePort(
  start: (port: number) => Promise<ChildProcess>,
): Promise<{ port: number; child: ChildProcess }> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      return { port, child: await start(port) };
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}
