import { text } from 'node:stream/consumers';
import type { ChildProgram } from '../support/child-program.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { KEY } from '../support/served.ts';
import { startPosthorn } from './posthorn.ts';

/** Starts `posthorn listen` on a free port. */
export async function startListening(
  args: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
): Promise<{ program: ChildProgram; url: string }> {
  const program = startPosthorn(['listen', '--port', '0', ...args], { SIGNING_KEY: KEY, ...more });
  const line = await program.line(/http:\/\/127\.0\.0\.1:\d+\//);
  return { program, url: /http:[^\s"]+/.exec(line)?.[0] ?? '' };
}

export async function outcomeOf(response: Response): Promise<unknown> {
  const { outcome, code }: { outcome?: string; code?: string } = JSON.parse(await response.text());
  return `${response.status} ${outcome ?? code}`;
}

export interface Request {
  readonly headers: Readonly<Record<string, string[] | undefined>>;
  readonly body: string;
  readonly answerWith: (status: number, headers?: Record<string, string>) => void;
}

/** A server that keeps its requests and lets the test answer each. */
export async function openBehind(): Promise<{ url: string; next: () => Promise<Request> }> {
  const waiting: ((request: Request) => void)[] = [];
  const url = await listenUntilTheEnd(async (request, response) => {
    const body = await text(request);
    const answerWith: Request['answerWith'] = (status, headers = {}) =>
      response.writeHead(status, headers).end();
    waiting.shift()?.({ headers: request.headersDistinct, body, answerWith });
  });
  return { url: `${url}/inner?a=b`, next: () => new Promise((resolve) => void waiting.push(resolve)) };
}
