import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenUntilTheEnd } from '../../support/listen.ts';

/** What arrived, as it arrived. */
export interface SeenRequest {
  /** Method and target: `GET /payments/na/webhooks?limit=100&offset=0`. */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * What is sent back: a status, headers and a text, after which the connection may be cut or left hanging; or
 * a connection that is reset, cut in the middle, or left hanging.
 */
export type Reply =
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string | Uint8Array;
      readonly end?: 'cut' | 'hang';
    }
  | 'reset'
  | 'cut'
  | 'hang';

export interface LiteralService {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** The first lines of the requests, in the order of their arrival. */
  readonly lines: () => readonly string[];
}

export type Respond = (request: SeenRequest) => Reply | Promise<Reply>;

/** Serves what `respond` says until the test is over. It knows nothing of the package. */
export async function openLiteralService(respond: Respond): Promise<LiteralService> {
  const requests: SeenRequest[] = [];
  const url = await listenUntilTheEnd(async (incoming, response) => {
    const request = await read(incoming);
    requests.push(request);
    send(response, await respond(request));
  });
  return { url, requests, lines: () => requests.map(({ line }) => line) };
}

/**
 * Answers with one reply after the other. Whatever comes after the last gets a status that no test expects.
 */
export function inTurn(...replies: readonly Reply[]): Respond {
  const left = [...replies];
  return () => left.shift() ?? { status: 418, body: 'no further reply was written' };
}

/** 200 with a body in JSON. */
export function json(body: string, status = 200): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body };
}

async function read(incoming: IncomingMessage): Promise<SeenRequest> {
  const { method, url, headers } = incoming;
  return { line: `${method} ${url}`, headers, body: await text(incoming) };
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (reply === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"id":', () => response.socket?.destroy());
    return;
  }
  response.writeHead(reply.status ?? 200, reply.headers);
  if (reply.end === undefined) response.end(reply.body ?? '');
  else response.write(reply.body ?? '', () => reply.end === 'cut' && response.socket?.destroy());
}
