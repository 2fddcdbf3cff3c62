import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Receiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { programPath } from '../../tools/programs.js';
import { type ChildProgram, startCommand } from '../support/child-program.ts';
import { readDocument } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { ampleDeadlines } from '../support/limits.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { type EndpointOptions, openDirectly } from '../support/open-endpoint.ts';
import { selfSigned } from '../support/self-signed.ts';
import { KEY, post } from '../support/served.ts';
import { snippetWith } from '../support/snippet.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE = 'docs/production.md';
const ofPage = snippetWith('proxy_pass', PAGE, 'nginx');
/** The longest body by default. */
const MAX_BODY_BYTES = 1_048_576;
const CHUNKED: Readonly<Record<string, string>> = { 'transfer-encoding': 'chunked' };

/** Starts nginx with the settings of the page, or others, in front of a server. */
async function startNginx(
  inner: string,
  settings: string,
): Promise<{ readonly url: string; readonly nginx: ChildProgram }> {
  const folder = temporaryDirectory();
  const { key, cert } = selfSigned();
  writeFileSync(join(folder, 'key.pem'), key);
  writeFileSync(join(folder, 'cert.pem'), cert);
  const port = await freePort();
  const here = {
    '127.0.0.1:3000': new URL(inner).host,
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/nginx/tls/billing.pem': join(folder, 'cert.pem'),
    '/etc/nginx/tls/billing.key': join(folder, 'key.pem'),
  };
  const own = Object.entries(here).reduce((text, [value, other]) => {
    expect(text).toContain(value);
    return text.replaceAll(value, other);
  }, settings);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const conf = join(folder, 'nginx.conf');
  writeFileSync(
    conf,
    `daemon off; pid ${folder}/pid; error_log stderr notice; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events {}
    http { access_log off; ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
    ${own} }`,
  );
  const environment = { PATH: process.env.PATH };
  const nginx = startCommand(programPath('nginx'), ['-e', 'stderr', '-c', conf], environment, folder);
  onTestFinished(async () => {
    nginx.kill('SIGTERM');
    await nginx.exit;
  });
  await nginx.line(/start worker process \d/);
  return { url: `https://127.0.0.1:${port}/webhooks`, nginx };
}

/** A receiver behind nginx. */
async function openBehindNginx({
  options = {},
  register,
  settings = ofPage,
}: {
  readonly options?: EndpointOptions;
  readonly register?: (receiver: Receiver) => void;
  readonly settings?: string;
} = {}) {
  const { receiver, reports } = openDirectly({ ...ampleDeadlines, ...options }, register);
  const server = createServer(toNode(receiver, { path: '/webhooks' }));
  const connections = new Set<unknown>();
  server.on('connection', (socket) => connections.add(socket));
  const { url, nginx } = await startNginx(await listenUntilTheEnd(server), settings);
  const send = (body: string | Uint8Array = newBody(), headers: Readonly<Record<string, string>> = {}) =>
    post(url, body, { ...signedHeaders(body, { key: KEY }), ...headers });
  return { url, reports: reports.all, connections, nginx, send };
}

/** A new event, with white space up to this length. */
function newBody(length = 0): string {
  const body = JSON.stringify(createEvent('transfer.succeeded', { memo: 'Zoë € 🏦' }));
  return body + ' '.repeat(Math.max(0, length - Buffer.byteLength(body)));
}

test('deliveries are processed, over a connection that stays open', async () => {
  const { send, reports, connections } = await openBehindNginx();
  for (const headers of [{}, CHUNKED, { 'x-long': 'x'.repeat(8_000) }])
    expect(await send(newBody(), headers)).toMatchObject({ status: 200 });
  expect(reports.map(({ outcome }) => outcome)).toEqual(['processed', 'processed', 'processed']);
  expect(connections.size).toBe(1);
});

test('the longest body passes, and longer ones get the answers of the page', async () => {
  const says = /gets (\d+) from posthorn, with a report; above (\d) MiB, from nginx, without one/;
  const [, status, mebibytes] = says.exec(readDocument(PAGE).text.replaceAll('\n', ' ')) ?? [];
  const { send, reports } = await openBehindNginx();
  expect(await send(newBody(MAX_BODY_BYTES))).toMatchObject({ status: 200 });
  for (const length of [MAX_BODY_BYTES + 1, Number(mebibytes) * 1_048_576]) {
    for (const headers of [{}, CHUNKED]) {
      const { status: answered, body } = await send(newBody(length), headers);
      expect([answered, JSON.parse(body)]).toEqual([
        Number(status),
        expect.objectContaining({ code: 'body_too_large' }),
      ]);
    }
  }
  const codes = [undefined, ...Array(4).fill('body_too_large')];
  expect(reports.map(({ code }) => code)).toEqual(codes);
  const tooLong = await send(newBody(Number(mebibytes) * 1_048_576 + 1));
  expect(tooLong).toEqual({ status: Number(status), body: expect.stringContaining('nginx') });
  expect(reports).toHaveLength(codes.length);
});

test('credentials are checked before a long body, and the refusal arrives', async () => {
  const authentication = { type: 'BEARER', bearer: { token: 'secret' } } as const;
  const { send } = await openBehindNginx({ options: { authentication } });
  const body = newBody(MAX_BODY_BYTES);
  expect(await send(body)).toMatchObject({ status: 401 });
  expect(await send(body, { authorization: 'Bearer secret' })).toMatchObject({ status: 200 });
});

test('a body that does not arrive in time gets the answer of posthorn', async () => {
  const { url } = await openBehindNginx({ options: { bodyTimeoutMs: 100 } });
  const body = newBody();
  const headers = { ...signedHeaders(body, { key: KEY }), 'content-length': '1000' };
  const outgoing = request(url, { method: 'POST', headers, agent: false, rejectUnauthorized: false });
  const answered = once(outgoing, 'response');
  outgoing.write(body);
  const [{ statusCode, headers: answer }] = await answered;
  outgoing.destroy();
  expect([statusCode, answer['content-type']]).toEqual([408, 'application/problem+json']);
});

/** A fifth of each time in the settings, because a test waits for the deadline. */
const ofPageInFifths = ofPage.replaceAll(/(\d+)s;/g, (_all, seconds) => `${200 * Number(seconds)}ms;`);

test('posthorn answers for a handler that takes too long, because nginx waits for longer', async () => {
  expect(Number(/proxy_read_timeout (\d+)s/.exec(ofPage)?.[1])).toBeGreaterThan(30);
  const { handle } = new HeldHandler();
  const register = (receiver: Receiver): void => void receiver.on('*', handle);
  const options = { deadlineMs: 25_000 / 5 };
  const held = await openBehindNginx({ options, register, settings: ofPageInFifths });
  const impatient = ofPageInFifths.replace(/(?<=proxy_read_timeout )\d+/, '1000');
  const cutShort = await openBehindNginx({ options, register, settings: impatient });
  const [answer, early] = await Promise.all([held.send(), cutShort.send()]);
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([503, 'deadline_reached']);
  expect(early.status, 'of an nginx that waits for less than the deadline').toBe(504);
});

test('nginx gives up an idle connection before Node.js does', () => {
  const [, seconds] = /^ {2}keepalive_timeout (\d+)s;/m.exec(ofPage) ?? [];
  expect(Number(seconds) * 1_000).toBeLessThan(createServer().keepAliveTimeout);
});

test('after a reload deliveries are processed, and those in flight are answered', async () => {
  const { calls, handle } = new HeldHandler();
  const { send, nginx } = await openBehindNginx({ register: (receiver) => void receiver.on('*', handle) });
  const inFlight = send();
  const first = await calls.nth(1);
  nginx.kill('SIGHUP');
  await nginx.line(/gracefully shutting down/);
  const later = send();
  (await calls.nth(2)).succeed();
  expect(await later).toMatchObject({ status: 200 });
  first.succeed();
  expect(await inFlight).toMatchObject({ status: 200 });
});
