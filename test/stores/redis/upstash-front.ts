import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import type { Redis } from 'ioredis';
import { startServer, stopServer } from '../../support/listen.ts';

/** What a request to the front is answered instead of, or beside, what Redis says. */
export type Mistreatment =
  | 'none'
  /** Redis never gets the command. */
  | 'cut before the command'
  /** Redis has run the command. */
  | 'cut after the command'
  /** No answer at all, after the command. */
  | 'silent'
  /** The page of a proxy, with what must not be shown. */
  | 'not JSON'
  /** https://upstash.com/docs/redis/troubleshooting/max_requests_limit */
  | 'over the limit';

export const TOKEN = 'token-of-the-front';

/**
 * The REST interface of Upstash before a real Redis, as its documentation describes it
 * (https://upstash.com/docs/redis/features/restapi): a command is a JSON array that is posted to `/`, or one
 * of several to `/pipeline`. With the header `Upstash-Encoding: base64` texts in results are base64, but for
 * OK.
 */
export class UpstashFront {
  readonly #server: Server;
  readonly #redis: Redis;
  /** Its address, once it is started. */
  url = '';
  /** Chooses what is done to the next request. */
  nextMistreatment: () => Mistreatment = () => 'none';
  /** How many requests have come. */
  requests = 0;

  private constructor(redis: Redis) {
    this.#redis = redis;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(redis: Redis): Promise<UpstashFront> {
    const front = new UpstashFront(redis);
    front.url = await startServer(front.#server);
    return front;
  }

  /** How many connections are open. */
  connections(): Promise<number> {
    return promisify(this.#server.getConnections.bind(this.#server))();
  }

  stop(): Promise<void> {
    return stopServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return send(response, 401, { error: 'WRONGPASS invalid or missing auth token' });
    const mistreatment = this.nextMistreatment();
    if (mistreatment === 'over the limit')
      return send(response, 400, { error: 'ERR max requests limit exceeded. Limit: 500000, Usage: 500001' });
    if (mistreatment === 'not JSON') return void response.end('<p>{"message":"secret"}</p>');
    if (mistreatment === 'cut before the command') return void request.socket.destroy();
    const isBase64 = request.headers['upstash-encoding'] === 'base64';
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const isPipeline = request.url === '/pipeline';
    const commands: (string | number)[][] = isPipeline ? body : [body];
    // The client of Redis keeps their order.
    const replies = await Promise.all(commands.map((command) => this.#run(command, isBase64)));
    if (mistreatment === 'silent') return;
    if (mistreatment === 'cut after the command') return void request.socket.destroy();
    if (isPipeline) return send(response, 200, replies);
    const [reply = { error: 'ERR no command' }] = replies;
    send(response, 'error' in reply ? 400 : 200, reply);
  }

  async #run(command: readonly (string | number)[], isBase64: boolean) {
    const [name = '', ...values] = command.map(String);
    try {
      const result = await this.#redis.callBuffer(name, ...values);
      return { result: encode(result, isBase64) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function encode(value: unknown, isBase64: boolean): unknown {
  if (Array.isArray(value)) return value.map((element) => encode(element, isBase64));
  if (!Buffer.isBuffer(value)) return value;
  const text = value.toString();
  return isBase64 && text !== 'OK' ? value.toString('base64') : text;
}
