import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { createServer as createTlsServer, request as requestOverTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { listenUntilTheEnd } from '../support/listen.ts';
import { selfSigned } from '../support/self-signed.ts';

/** A reverse proxy in front of a server. */
export interface ProxyOptions {
  /** The origin of the server. */
  readonly inner: string;
  /** True if it ends TLS, with a certificate that nobody trusts. */
  readonly tls: boolean;
  /** True if the server gets the Host of the browser, and not its own. */
  readonly keepsHost: boolean;
}

/** Starts a reverse proxy until the end of the test; resolves with the origin that browsers show. */
export function startProxy({ inner, keepsHost, tls }: ProxyOptions): Promise<string> {
  const { host, hostname, port } = new URL(inner);
  const forward: RequestListener = (incoming, response) => {
    const { method, url: path } = incoming;
    const headers = keepsHost ? incoming.headers : { ...incoming.headers, host };
    const outgoing = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  };
  return listenUntilTheEnd(tls ? createTlsServer(selfSigned(), forward) : createServer(forward));
}

/** Sends what a browser would, whose headers `fetch` does not let a program set. */
export async function sendAsBrowser(
  url: string,
  method: 'GET' | 'POST',
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const send = url.startsWith('https:') ? requestOverTls : request;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const options = { method, headers: { ...headers, ...type }, agent: false, rejectUnauthorized: false };
  const outgoing = send(url, options);
  const answered: Promise<IncomingMessage[]> = once(outgoing, 'response');
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [incoming] = await answered;
  if (incoming === undefined) throw new Error('no answer');
  return { status: incoming.statusCode, text: await text(incoming) };
}
