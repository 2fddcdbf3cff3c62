import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

interface Setting {
  /** What the mount line needs around it. What no installed package has the types of is declared. */
  readonly code: string;
  /** The test or the example that runs the line. */
  readonly runBy: string;
}

const nest = (method: string) => `
  declare const RECEIVER: symbol;
  declare const app: { get(token: symbol): Receiver; ${method} };`;
const route = (argument: string) => `
  type Handle = (argument: ${argument}, context: object) => Promise<Response>;
  void ((): Handle => POST);`;

const settings: Readonly<Record<string, Setting>> = {
  'Node.js `http` and `https`': {
    code: "import { createServer } from 'node:https';",
    runBy: 'examples/node-http.ts',
  },
  'Node.js `http2`': {
    code: "import { createSecureServer } from 'node:http2'; declare const key: string; declare const cert: string;",
    runBy: 'test/adapters/http2.test.ts',
  },
  'Express 4 and 5': {
    code: "import express from 'express'; const app = express();",
    runBy: 'test/adapters/express.test.ts',
  },
  'Fastify 5': {
    code: "import fastify from 'fastify'; const app = fastify();",
    runBy: 'examples/fastify/server.js',
  },
  'Koa 2 and 3': { code: "import Koa from 'koa'; const app = new Koa();", runBy: 'examples/koa/server.js' },
  'NestJS on Express': {
    code: nest(
      'use(path: string, handler: (request: never, response: never, next: never) => unknown): unknown',
    ),
    runBy: 'examples/nest-express/src/main.ts',
  },
  'NestJS on Fastify': {
    code: `import type { FastifyPluginCallback } from 'fastify';
      ${nest('register(plugin: FastifyPluginCallback): Promise<unknown>')}`,
    runBy: 'examples/nest-fastify/src/main.ts',
  },
  Hono: {
    code: "import { Hono } from 'hono'; const app = new Hono();",
    runBy: 'test/adapters/fetch.test.ts',
  },
  'Next.js, `app/webhooks/route.ts`': {
    code: route('Request'),
    runBy: 'test/adapters/fetch-requests.test.ts',
  },
  'SvelteKit, `routes/webhooks/+server.ts`': {
    code: route('{ request: Request }'),
    runBy: 'test/adapters/fetch-requests.test.ts',
  },
  Elysia: {
    code: `type Context = { request: Request };
      declare const app: {
        all(path: string, handle: (context: Context) => Promise<Response>, hook: { parse: 'none' }): unknown;
      };`,
    runBy: 'test/adapters/fetch-requests.test.ts',
  },
  Bun: {
    code: `type Serve = (request: Request, server: object) => Promise<Response>;
      declare const Bun: { serve(options: { port: number; fetch: Serve }): unknown };`,
    runBy: 'test/matrix/fetch-deliveries.mjs',
  },
  Deno: {
    code: `type Serve = (request: Request, info: object) => Promise<Response>;
      declare const Deno: { serve(options: { port: number }, handle: Serve): unknown };`,
    runBy: 'test/matrix/fetch-deliveries.mjs',
  },
  'Cloudflare Workers': { code: '', runBy: 'test/matrix/projects/workers/worker.js' },
  'AWS Lambda': {
    code: `import type { APIGatewayProxyHandlerV2 } from 'aws-lambda';
      const typed: APIGatewayProxyHandlerV2 = (...given) => handler(given[0], given[1]);
      void typed;`,
    runBy: 'examples/lambda/handler.js',
  },
  'Google Cloud Functions': {
    code: `import type { Request, Response } from 'express';
      declare function http(name: string, handler: (request: Request, response: Response) => unknown): void;`,
    runBy: 'examples/cloud-functions/index.js',
  },
};

const [, table = ''] = readFileSync(join(packageRoot, 'docs', 'adapters.md'), 'utf8').split('\n\n');
const rows = table
  .split('\n')
  .slice(2)
  .map((line) => line.replace(/^\| /, '').replace(/ \|$/, '').split(' | '));

/** The code of a row: what comes after "with" goes before the rest. */
function mountOf(cell = ''): string {
  return [...cell.matchAll(/`([^`]+)`/g)]
    .map(([, code = '']) => code)
    .reverse()
    .join(';\n');
}

describe('the table of frameworks in docs/adapters.md', () => {
  test('has a row for each of the settings here, and no other', () => {
    expect(rows.map(([framework]) => framework)).toEqual(Object.keys(settings));
    expect(rows.map((row) => row.length)).toEqual(rows.map(() => 3));
  });

  test('has lines that compile', () => {
    const folder = join(packageRoot, 'dist', 'adapters-table');
    mkdirSync(folder, { recursive: true });
    for (const [index, [framework = '', mount]] of rows.entries()) {
      const typed = mountOf(mount).replace('({ request }) =>', '({ request }: { request: Request }) =>');
      const { code } = settings[framework] ?? { code: '' };
      writeFileSync(join(folder, `row-${index + 1}.ts`), `${PRELUDE}\n${code}\n${typed};\nexport {};\n`);
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(compilation));
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    // It prints which line of which row is wrong.
    execFileSync(tsc, ['-p', folder], { stdio: 'inherit' });
  });

  test.each(rows)('%s: %s is run', (framework = '', mount) => {
    const [adapter = ''] = mountOf(mount).match(/to(Node|Express|Fastify|Koa|Fetch|Lambda)\b/) ?? ['?'];
    const runner = readFileSync(join(packageRoot, settings[framework]?.runBy ?? ''), 'utf8');
    expect(runner).toMatch(new RegExp(`${adapter}\\(`));
  });
});

const PRELUDE = `import { createReceiver, type Receiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toFetch } from 'posthorn/fetch';
import { toKoa } from 'posthorn/koa';
import { toLambda } from 'posthorn/lambda';
import { toNode } from 'posthorn/node';
const receiver: Receiver = createReceiver({ signingKey: 'key' });
void [toExpress, toFastify, toFetch, toKoa, toLambda, toNode, receiver];`;

const compilation = {
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
};
