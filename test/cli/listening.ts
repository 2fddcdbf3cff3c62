import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { ChildProgram } from '../support/child-program.ts';
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
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const answerWith: Request['answerWith'] = (status, headers = {}) =>
      response.writeHead(status, headers).end();
    waiting.shift()?.({ headers: request.headersDistinct, body, answerWith });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/inner?a=b`;
  return { url, next: () => new Promise((resolve) => void waiting.push(resolve)) };
}
