import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenUntilTheEnd } from '../../support/listen.ts';

/** Where the caller dies: at which request, counted from 1, and whether that one is still carried out. */
export interface Death {
  readonly at: number;
  readonly carriedOut: boolean;
}

/** Stands between the client and the sandbox: sees every request, and can let the caller die in between. */
export class Gateway {
  /** Method and path of each request. */
  readonly lines: string[] = [];
  readonly #target: string;
  #death: Death | undefined;
  #count = 0;
  #onStep: (line: string) => unknown = () => {};
  #rewrite: (url: string) => string = (url) => url;

  constructor(target: string) {
    this.#target = target;
  }

  open(): Promise<string> {
    return listenUntilTheEnd((request, response) => void this.#pass(request, response));
  }

  /** Called with each request before it is carried out, and again after that; the request waits for it. */
  onStep(listener: (line: string) => unknown): void {
    this.#onStep = listener;
  }

  /** Sends requests to other paths than the client does. */
  rewrite(change: (url: string) => string): void {
    this.#rewrite = change;
  }

  /** From here on requests are counted, and none from the death on is carried out, until the next call. */
  dieAt(death: Death | undefined): void {
    this.#count = 0;
    this.#death = death;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const line = `${request.method} ${request.url}`;
    this.lines.push(line);
    this.#count += 1;
    const { at = Number.POSITIVE_INFINITY, carriedOut } = this.#death ?? {};
    const isDead = this.#count >= at;
    await this.#onStep(line);
    const answer =
      !isDead || (this.#count === at && carriedOut) ? await this.#forward(request, body) : undefined;
    await this.#onStep(line);
    // A status that is final: a caller that has died does not try again.
    if (isDead || answer === undefined) response.writeHead(400).end();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  }

  #forward(
    { method = '', url = '', headers }: IncomingMessage,
    body: Buffer<ArrayBuffer>,
  ): Promise<Response> {
    const { authorization = '', 'x-api-key': apiKey, 'content-type': type } = headers;
    return fetch(`${this.#target}${this.#rewrite(url)}`, {
      method,
      headers: {
        authorization,
        ...(typeof apiKey === 'string' && { 'x-api-key': apiKey }),
        ...(type !== undefined && { 'content-type': type }),
      },
      ...(body.length > 0 && { body }),
    });
  }
}
