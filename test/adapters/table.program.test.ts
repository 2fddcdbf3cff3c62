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
  /** The part of the line that is to be found there; by default the whole. */
  readonly part?: string;
}

const settings: Readonly<Record<string, Setting>> = {
  'Node.js `http` and `https`': {
    code: "import { createServer } from 'node:https';",
    runBy: 'examples/node-http/server.ts',
    part: "createServer(toNode(receiver, { path: '/webhooks' }))",
  },
  'Node.js `http2`': {
    code: "import { createSecureServer } from 'node:http2'; declare const key: string; declare const cert: string;",
    runBy: 'test/adapters/http2.test.ts',
    part: 'toNode(receiver)',
  },
  'Express 4 and 5': {
    code: "import express from 'express'; const app = express();",
    runBy: 'examples/express/server.ts',
  },
  'Fastify 5': {
    code: "import fastify from 'fastify'; const app = fastify();",
    runBy: 'examples/fastify/server.js',
  },
  'Koa 2 and 3': { code: "import Koa from 'koa'; const app = new Koa();", runBy: 'examples/koa/server.js' },
  'NestJS 11 and 12, on Express and Fastify': {
    code: "import { PosthornModule } from 'posthorn/nestjs'; declare const signingKey: string;",
    runBy: 'examples/nest-express/src/webhooks.module.ts',
    part: 'PosthornModule.forRoot({',
  },
  Hono: {
    code: "import { Hono } from 'hono'; const app = new Hono();",
    runBy: 'examples/hono/server.js',
  },
  'Next.js, `app/webhooks/route.ts`': {
    code: `const handle: (request: Request, context: object) => Promise<Response> = receive;
      void handle;`,
    runBy: 'examples/next/app/webhooks/route.ts',
  },
  'SvelteKit, `routes/webhooks/+server.js`': {
    code: '',
    runBy: 'examples/sveltekit/src/routes/webhooks/+server.js',
  },
  Elysia: {
    code: `type Context = { request: Request };
      declare const app: {
        all(path: string, handle: (context: Context) => Promise<Response>, hook: { parse: 'none' }): unknown;
      };`,
    runBy: 'examples/elysia/server.ts',
    part: ".all('/webhooks', ({ request }) => receive(request), { parse: 'none' })",
  },
  Bun: {
    code: `type Serve = (request: Request, server: object) => Promise<Response>;
      declare const Bun: { serve(options: { port: number; fetch: Serve }): unknown };`,
    runBy: 'test/matrix/fetch-deliveries.mjs',
    part: 'Bun.serve({ port: ',
  },
  Deno: {
    code: `type Serve = (request: Request, info: object) => Promise<Response>;
      declare const Deno: { serve(options: { port: number }, handle: Serve): unknown };`,
    runBy: 'test/matrix/fetch-deliveries.mjs',
    part: 'Deno.serve({ port: ',
  },
  'Cloudflare Workers': {
    code: '',
    runBy: 'test/matrix/projects/workers/worker.js',
    part: 'export default {',
  },
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

const paragraphs = readFileSync(join(packageRoot, 'docs', 'adapters.md'), 'utf8').split('\n\n');
const table = paragraphs.find((paragraph) => paragraph.startsWith('| framework |')) ?? '';
const rows = table
  .split('\n')
  .slice(2)
  .map((line) => line.replace(/^\| /, '').replace(/ \|$/, '').split(' | '));

/** The code of a cell. */
function codeOf(cell = ''): string {
  return cell.replace(/^`|`$/g, '');
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
      // A SvelteKit project has the types of its routes made, for JavaScript, too.
      const typed = codeOf(mount).replace('({ request, platform }) =>', '({ request, platform }: Routed) =>');
      const { code } = settings[framework] ?? { code: '' };
      writeFileSync(join(folder, `row-${index + 1}.ts`), `${PRELUDE}\n${code}\n${typed};\nexport {};\n`);
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(compilation));
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    // It prints which line of which row is wrong.
    execFileSync(tsc, ['-p', folder], { stdio: 'inherit' });
  });

  test.each(rows)('%s: %s is run', (framework = '', mount) => {
    const { runBy = '', part = codeOf(mount) } = settings[framework] ?? {};
    expect(codeOf(mount)).toContain(part);
    expect(readFileSync(join(packageRoot, runBy), 'utf8')).toContain(part);
  });
});

test.each([
  'app.use(toExpress(app.get',
  "await app.register(toFastify(app.get(RECEIVER), { path: '/webhooks' }))",
])('the mount by hand on NestJS is run: %s', (mount) => {
  const [page, run] = ['docs/adapters.md', 'test/nestjs/mount-by-hand.test.ts'].map((path) =>
    readFileSync(join(packageRoot, path), 'utf8'),
  );
  expect(page).toContain(mount);
  expect(run).toContain(mount);
});

const PRELUDE = `import { createReceiver, type Receiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toFetch } from 'posthorn/fetch';
import { toKoa } from 'posthorn/koa';
import { toLambda } from 'posthorn/lambda';
import { toNode } from 'posthorn/node';
const receiver: Receiver = createReceiver({ signingKey: 'key' });
const receive = toFetch(receiver);
type Routed = { request: Request; platform?: { ctx?: object } };
void (undefined as Routed | undefined);
void [receive, toExpress, toFastify, toFetch, toKoa, toLambda, toNode, receiver];`;

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
