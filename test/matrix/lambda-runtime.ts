import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { startCommand } from '../support/child-program.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { npmInstall } from '../support/packed-project.ts';
import { Seen } from '../support/seen.ts';
import { nodeProgram } from './runtime.ts';

/** What the runtime has told of an event, or of its start. */
export interface Told {
  readonly kind: 'response' | 'error';
  readonly body: unknown;
}

/** The runtime of AWS Lambda in a process of its own. */
export interface LambdaRuntime {
  /** Hands it an event, with so many milliseconds to handle it, and resolves with what it tells. */
  readonly invoke: (event: unknown, timeoutMs?: number) => Promise<Told>;
  /** Resolves with why it has not started. */
  readonly refused: () => Promise<Told>;
}

const FOLDER = join(import.meta.dirname, 'projects', 'lambda');

/** Installs the runtime interface client of AWS. */
export function installRuntime(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-lambda-'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  npmInstall(folder, 'aws-lambda-ric@4.0.2');
  // It is loaded by its name; rapid-client.cjs takes its place.
  writeFileSync(join(folder, 'node_modules', 'aws-lambda-ric', 'rapid-client.node'), '');
  copyFileSync(join(FOLDER, 'rapid-client.cjs'), join(folder, 'rapid-client.cjs'));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/** Starts the runtime with the handler of a project, until the test ends. */
export async function startRuntime(
  folder: string,
  { root, handler }: { readonly root: string; readonly handler: string },
  environment: NodeJS.ProcessEnv = {},
): Promise<LambdaRuntime> {
  const api = new RuntimeApi();
  const url = await listenUntilTheEnd((request, response) => void api.answer(request, response));
  const client = join(folder, 'node_modules', 'aws-lambda-ric', 'index.mjs');
  const env = {
    PATH: process.env.PATH,
    ...environment,
    AWS_LAMBDA_FUNCTION_NAME: 'webhooks',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/webhooks',
    AWS_LAMBDA_LOG_STREAM_NAME: '2026/01/01/[$LATEST]a1b2c3',
    AWS_LAMBDA_RUNTIME_API: new URL(url).host,
    AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true',
    LAMBDA_TASK_ROOT: root,
    _HANDLER: handler,
  };
  const program = startCommand(
    nodeProgram('24.21.0'),
    ['--require', join(folder, 'rapid-client.cjs'), client],
    env,
    root,
  );
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  const ended = program.exit.then((): never => {
    throw new Error(`the runtime has ended:\n${program.lines.join('\n')}`);
  });
  ended.catch(() => {});
  return {
    invoke: (event, timeoutMs = 30_000) => Promise.race([api.invoke(event, timeoutMs), ended]),
    // It ends thereafter.
    refused: () => api.told('init'),
  };
}

/** The side of Lambda: the runtime asks for the next event, and posts what came of it. */
class RuntimeApi {
  readonly #events = new Seen<{ readonly body: string; readonly deadlineAt: number }>();
  readonly #told = new Seen<Told & { readonly of: string }>();
  #asked = 0;

  invoke(event: unknown, timeoutMs: number): Promise<Told> {
    this.#events.add({ body: JSON.stringify(event ?? null), deadlineAt: Date.now() + timeoutMs });
    return this.told(String(this.#events.all.length));
  }

  /** What was told of an event, by its number, or of the start: `init`. */
  async told(about: string): Promise<Told> {
    const { kind, body } = await this.#told.first(({ of }) => of === about);
    return { kind, body };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return this.#next(response);
    const [, of = '', kind = ''] = /(\w+)\/(response|error)$/.exec(request.url ?? '') ?? [];
    const body = JSON.parse(await text(request));
    response.writeHead(202).end();
    this.#told.add({ of, kind: kind === 'response' ? 'response' : 'error', body });
  }

  async #next(response: ServerResponse): Promise<void> {
    this.#asked += 1;
    const id = this.#asked;
    const { body, deadlineAt } = await this.#events.nth(id);
    response.writeHead(200, {
      'lambda-runtime-aws-request-id': String(id),
      'lambda-runtime-deadline-ms': String(deadlineAt),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:123456789012:function:webhooks',
    });
    response.end(body);
  }
}
