import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Asks with any header, such as a Host that `fetch` would not send. */
export async function ask(url: string, { method = 'GET', headers, body }: Asked = {}): Promise<Answer> {
  const outgoing = request(url, { method, headers, agent: false });
  const answered = once(outgoing, 'response');
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [incoming] = await answered;
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

/** Opens an address as a browser does; resolves with the cookie that it sends from then on. */
export async function signIn(address: string): Promise<string> {
  const { headers } = await ask(address);
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

/** Asks for a deed as the page does. */
export function act(url: string, deed: 'replay' | 'drop', cookie: string, body: object): Promise<Answer> {
  const headers = { cookie, 'content-type': 'application/json' };
  return ask(new URL(`/api/dead-letters/${deed}`, url).href, { method: 'POST', headers, body });
}
