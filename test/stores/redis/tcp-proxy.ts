import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { startServer, stopServer } from '../../support/listen.ts';

/** Stands between a client and its Redis, and mistreats what passes. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #silenced = new WeakSet<Socket>();
  readonly #held: (() => void)[] = [];
  /** Its port, once it is started. */
  port = 0;
  #accepted = 0;
  #cutText = '';
  #cutsLeft = 0;
  #requests: 'pass' | 'hold' = 'pass';
  #replies: 'pass' | 'swallow' | 'cut' = 'pass';

  private constructor(targetPort: number) {
    this.#server = createServer((client) => this.#relay(client, connect(targetPort, '127.0.0.1')));
  }

  /** The proxy ends with the test. */
  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.port = Number(new URL(await startServer(proxy.#server)).port);
    onTestFinished(() => proxy.stop());
    return proxy;
  }

  /** From now on requests wait in the proxy, even if their client hangs up. */
  holdRequests(): void {
    this.#requests = 'hold';
  }

  /** Passes on what was held, in its order, and everything after it. */
  passRequests(): void {
    this.#requests = 'pass';
    for (const send of this.#held.splice(0)) send();
  }

  /** `cut`: a connection ends in the middle of its next reply. */
  treatReplies(replies: 'pass' | 'swallow' | 'cut'): void {
    this.#replies = replies;
  }

  /** The connections of the next requests with this text end as soon as it has been passed on. */
  cutAtRequests(text: string, count: number): void {
    this.#cutText = text;
    this.#cutsLeft = count;
  }

  /** The number of requests that are still to be cut. */
  get cutsLeft(): number {
    return this.#cutsLeft;
  }

  /** How many connections have been accepted so far. */
  get acceptedCount(): number {
    return this.#accepted;
  }

  /** How many sockets are open, on either side. */
  get connectionCount(): number {
    return this.#sockets.size;
  }

  /** What is connected now gets no reply any more, and no end either; new connections do. */
  silenceConnections(): void {
    for (const socket of this.#sockets) this.#silenced.add(socket);
  }

  /** Ends all connections; new ones are accepted. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cutConnections();
    await stopServer(this.#server);
  }

  #relay(client: Socket, target: Socket): void {
    this.#accepted += 1;
    for (const socket of [client, target]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    }
    client.on('data', (bytes) => {
      if (this.#requests === 'hold') this.#held.push(() => target.write(bytes));
      else target.write(bytes);
      if (this.#cutsLeft === 0 || !bytes.includes(this.#cutText)) return;
      this.#cutsLeft -= 1;
      client.destroy();
      target.end();
    });
    client.on('close', () => {
      if (this.#requests === 'hold') this.#held.push(() => target.end());
      else target.end();
    });
    target.on('data', (bytes) => {
      if (this.#replies === 'swallow' || this.#silenced.has(target)) return;
      if (this.#replies === 'pass') return void client.write(bytes);
      // So few that not even the first of several replies is whole.
      client.write(bytes.subarray(0, 5), () => {
        client.destroy();
        target.destroy();
      });
    });
    target.on('close', () => client.destroy());
  }
}
