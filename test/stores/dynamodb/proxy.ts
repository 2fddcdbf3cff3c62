import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { startServer, stopServer } from '../../support/listen.ts';
import { tests } from '../../support/running-test.ts';

/** An answer of the emulator. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A request to DynamoDB, and what can be done with it. */
export interface Exchange {
  /** For example `PutItem`. */
  readonly operation: string;
  /** The parameters as JSON. */
  readonly parameters: string;
  /** Has the emulator run it. */
  readonly run: () => Promise<Answer>;
  readonly reply: (answer: Answer) => void;
  /** Cuts the connection. */
  readonly cut: () => void;
}

/** Does with a request what it likes. */
export type Treatment = (exchange: Exchange) => Promise<void>;

/** Passes a request on. */
export const pass: Treatment = async ({ run, reply }) => reply(await run());

/** Stands between a client and the emulator of DynamoDB, and mistreats what passes. */
export class HttpProxy {
  readonly #server: Server;
  readonly #target: number;
  /** Its address, once it is started. */
  url = '';
  /** Chooses what becomes of the next request. */
  treat: (exchange: Exchange) => Treatment = () => pass;
  /** How many requests have come. */
  requests = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((message, response) => {
      this.#receive(message, response).catch(() => response.destroy());
    });
  }

  static async start(target: number): Promise<HttpProxy> {
    const proxy = new HttpProxy(target);
    proxy.url = await startServer(proxy.#server);
    return proxy;
  }

  close(): Promise<void> {
    return stopServer(this.#server);
  }

  async #receive(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const parameters = await readAll(message);
    const exchange: Exchange = {
      operation: String(message.headers['x-amz-target']).split('.')[1] ?? '',
      parameters,
      run: () => this.#run(message, parameters),
      reply: ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
      },
      cut: () => void message.socket.destroy(),
    };
    await this.treat(exchange)(exchange);
  }

  async #run({ headers, method, url }: IncomingMessage, parameters: string): Promise<Answer> {
    const options = { port: this.#target, host: '127.0.0.1', method, path: url, headers };
    const sent = request(options).end(parameters);
    const [response]: IncomingMessage[] = await once(sent, 'response');
    if (response === undefined) throw new Error('no response');
    return { status: response.statusCode ?? 0, body: await readAll(response) };
  }
}

async function readAll(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Answers with an error of DynamoDB. */
export const refuse =
  (status: number, type: string, message = 'the proxy says so'): Treatment =>
  async ({ reply }) =>
    reply({ status, body: JSON.stringify({ __type: type, message }) });

/** Does not answer, after the write or without it; when its test is over it cuts the connection. */
export function silent(wasWritten: boolean): Treatment {
  const test = tests.getStore();
  return async ({ run, cut }) => {
    if (wasWritten) await run();
    test?.whenOver(cut);
  };
}

const API = 'com.amazonaws.dynamodb.v20120810';

/** What passes: a client should try again. */
export const faults: Readonly<Record<string, Treatment>> = {
  throttled: refuse(400, 'com.amazon.coral.availability#ThrottlingException'),
  'past the capacity of the table': refuse(400, `${API}#ProvisionedThroughputExceededException`),
  'a transaction has the item': refuse(400, `${API}#TransactionConflictException`),
  'an internal error': refuse(500, `${API}#InternalServerError`),
  'an error of a gateway': async ({ reply }) => reply({ status: 503, body: '<html>try later</html>' }),
  'the credentials have expired': refuse(400, 'com.amazon.coral.service#ExpiredTokenException'),
  'the connection is cut before the write': async ({ cut }) => cut(),
  'the answer is lost after the write': async ({ run, cut }) => {
    await run();
    cut();
  },
};
