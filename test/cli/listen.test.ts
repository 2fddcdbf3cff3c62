import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type AnyEvent, createReceiver, type Delivery } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ChildProgram, freePort } from '../child-program.ts';
import { KEY, serve } from '../served.ts';
import { posthorn, startPosthorn } from './posthorn.ts';

const env = { SIGNING_KEY: KEY };

/** Starts `posthorn listen` on a free port. */
async function startListening(
  args: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
): Promise<{ program: ChildProgram; url: string }> {
  const program = startPosthorn(['listen', '--port', '0', ...args], { ...env, ...more });
  const line = await program.line(/http:\/\/127\.0\.0\.1:\d+\//);
  return { program, url: /http:[^\s"]+/.exec(line)?.[0] ?? '' };
}

async function outcomeOf(response: Response): Promise<unknown> {
  const { outcome, code }: { outcome?: string; code?: string } = JSON.parse(await response.text());
  return `${response.status} ${outcome ?? code}`;
}

describe('posthorn listen', () => {
  test('prints each event and what became of each delivery, one line each, without colours', async () => {
    const { program, url } = await startListening();
    const event = { ...createEvent('transfer.succeeded', { amount: 5, note: '\u001b[2J' }), id: 'evt_1' };
    expect(await outcomeOf(await deliver(url, event, { key: KEY }))).toBe('200 processed');
    expect(await outcomeOf(await deliver(url, event, { key: KEY }))).toBe('200 duplicate');
    expect(await outcomeOf(await deliver(url, event, { key: 'other' }))).toBe('403 signature_mismatch');
    await program.line(/rejected/);
    expect(program.lines).toEqual([
      `listening on ${url}`,
      `transfer.succeeded evt_1 ${event.created_at} {"amount":5,"note":"\\u001b[2J"}`,
      expect.stringMatching(/^ {2}processed 200 transfer\.succeeded evt_1 attempt 1 \d+ ms$/),
      expect.stringMatching(/^ {2}duplicate 200 transfer\.succeeded evt_1 \d+ ms$/),
      expect.stringMatching(/^ {2}rejected 403 \d+ ms signature_mismatch: /),
    ]);
  });

  test('prints JSON lines with --json, and nothing of the credentials', async () => {
    const { program, url } = await startListening(['--json', '--path', '/in'], { BEARER_TOKEN: 'to-ken' });
    expect(new URL(url).pathname).toBe('/in');
    const event = createEvent('transfer.succeeded');
    const authentication = { type: 'BEARER', bearer: { token: 'to-ken' } } as const;
    expect(await outcomeOf(await deliver(url, event, { key: KEY }))).toBe('401 credentials_invalid');
    expect(await outcomeOf(await deliver(url, event, { key: KEY, authentication }))).toBe('200 processed');
    await program.line(/processed/);
    expect(program.lines.map((line) => JSON.parse(line))).toMatchObject([
      { kind: 'listening', url },
      { kind: 'report', outcome: 'rejected', status: 401, code: 'credentials_invalid' },
      { kind: 'event', event },
      {
        kind: 'report',
        outcome: 'processed',
        status: 200,
        event: { id: event.id },
        attempt: 1,
        warnings: [],
      },
    ]);
    expect(program.lines.join()).not.toContain('to-ken');
  });

  test('takes BASIC credentials and another signature header; curl can send to it', async () => {
    const { url } = await startListening(['--basic', 'u:p', '--signature-header', 'x-vendor-signature']);
    const script = `body='{"id":"evt_1","type":"dispute.won","created_at":"${new Date().toISOString()}","data":{}}'
      curl -sS -u u:p -H 'content-type: application/json' --data-raw "$body" ${url} \
        -H "x-vendor-signature: $(printf %s "$body" | openssl dgst -sha256 -hmac ${KEY} -r | cut -d' ' -f1)"`;
    expect(JSON.parse(execFileSync('sh', ['-c', script], { encoding: 'utf8' }))).toMatchObject({
      outcome: 'processed',
    });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('ends on %s with exit code 0', async (signal) => {
    const { program } = await startListening();
    program.kill(signal);
    expect(await program.exit).toBe(0);
  });

  test('answers what it is handling before it ends', async () => {
    const behind = await openBehind();
    const { program, url } = await startListening(['--forward', behind.url]);
    const answer = deliver(url, createEvent('transfer.created'), { key: KEY });
    const { answerWith } = await behind.next();
    program.kill('SIGTERM');
    answerWith(200);
    expect(await outcomeOf(await answer)).toBe('200 processed');
    expect(await program.exit).toBe(0);
  });

  test('without a key it does not start', async () => {
    expect(await posthorn(['listen'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^posthorn: .*SIGNING_KEY.*--key \(usage_invalid\)\n$/),
    });
  });

  test('a port that is taken is one line and exit code 2', async () => {
    const { url } = await startListening();
    const { code, stdout, stderr } = await posthorn(['listen', '--port', new URL(url).port], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^posthorn: cannot listen on .*EADDRINUSE.*\n$/);
  });

  test.each([
    { args: ['--port', '65536'], message: /--port <number>' argument '65536' is invalid/ },
    { args: ['--path', 'webhooks'], message: /path must begin with "\/".*\(configuration_invalid\)/ },
    { args: ['--signature-header', 'a b'], message: /must be the name of a header/ },
    { args: ['--forward', 'here'], message: /--forward takes an address/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    const { code, stderr } = await posthorn(['listen', ...args], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

interface Request {
  readonly headers: Readonly<Record<string, string[] | undefined>>;
  readonly body: string;
  readonly answerWith: (status: number, headers?: Record<string, string>) => void;
}

/** A server that keeps its requests and lets the test answer each. */
async function openBehind(): Promise<{ url: string; next: () => Promise<Request>; close: () => void }> {
  const waiting: ((request: Request) => void)[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const answerWith: Request['answerWith'] = (status, headers = {}) =>
      response.writeHead(status, headers).end();
    waiting.shift()?.({ headers: request.headersDistinct, body, answerWith });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/inner?a=b`;
  return { url, close, next: () => new Promise((resolve) => void waiting.push(resolve)) };
}

describe('posthorn listen --forward', () => {
  test('passes the very bytes and the end-to-end headers on, credentials too', async () => {
    const behind = await openBehind();
    const { url } = await startListening(['--forward', behind.url, '--basic', 'u:p']);
    const authentication = { type: 'BASIC', basic: { username: 'u', password: 'p' } } as const;
    const body = `{ "id":"evt_1","type":"transfer.created", "created_at":"${new Date().toISOString()}","data":{"n":1.0} }`;
    const forwarded = behind.next();
    const answer = deliver(url, body, { key: KEY, authentication, headers: { 'x-request-id': '7' } });
    const request = await forwarded;
    request.answerWith(201);
    expect(await outcomeOf(await answer)).toBe('200 processed');
    expect(request.body).toBe(body);
    expect(request.headers).toMatchObject({
      'content-type': ['application/json'],
      'x-service-signature': [expect.stringMatching(/^[0-9a-f]{64}$/)],
      authorization: ['Basic dTpw'],
      'x-request-id': ['7'],
      host: [new URL(behind.url).host],
      'content-length': [String(Buffer.byteLength(body))],
    });
  });

  test('headers of the connection are not passed on', async () => {
    const behind = await openBehind();
    const { url } = await startListening(['--forward', behind.url]);
    const script = `body='{"id":"evt_1","type":"dispute.won","created_at":"${new Date().toISOString()}","data":{}}'
      exec curl -sS -H 'connection: close, X-Hop' -H 'x-hop: 1' -H 'x-kept: 1' \
        -H 'te: trailers' -H 'proxy-authorization: hidden' -H 'expect: 100-continue' --data-raw "$body" ${url} \
        -H "x-service-signature: $(printf %s "$body" | openssl dgst -sha256 -hmac ${KEY} -r | cut -d' ' -f1)"`;
    const forwarded = behind.next();
    const sent = startShell(script);
    const request = await forwarded;
    request.answerWith(200);
    await sent;
    expect(request.headers).toHaveProperty('x-kept');
    for (const name of ['x-hop', 'te', 'proxy-authorization', 'expect', 'transfer-encoding']) {
      expect(request.headers).not.toHaveProperty(name);
    }
  });

  test.each([500, 404, 302])(
    'an answer of %i fails the event, and the retry is passed on again',
    async (status) => {
      const behind = await openBehind();
      const { program, url } = await startListening(['--forward', behind.url]);
      const event = createEvent('transfer.created');
      const send = async (answer: number): Promise<unknown> => {
        const forwarded = behind.next();
        const sent = deliver(url, event, { key: KEY });
        (await forwarded).answerWith(answer, { location: behind.url });
        return outcomeOf(await sent);
      };
      expect(await send(status)).toBe('500 handler_failed');
      await program.line(new RegExp(`failed 500 .* attempt 1 .*/inner answered ${status}$`));
      expect(await send(204)).toBe('200 processed');
      expect(await outcomeOf(await deliver(url, event, { key: KEY }))).toBe('200 duplicate');
    },
  );

  test('what cannot be reached fails the event', async () => {
    const { program, url } = await startListening([
      '--forward',
      `http://127.0.0.1:${await freePort()}/x?token=hidden`,
    ]);
    expect(await outcomeOf(await deliver(url, createEvent('transfer.created'), { key: KEY }))).toBe(
      '500 handler_failed',
    );
    await program.line(/cannot be reached: .*ECONNREFUSED/);
    expect(program.lines.join()).not.toContain('hidden');
  });

  test('a receiver with the same key and credentials behind it accepts what is passed on', async () => {
    const authentication = { type: 'BEARER', bearer: { token: 'to-ken' } } as const;
    const events: AnyEvent[] = [];
    const deliveries: Delivery[] = [];
    const inner = createReceiver({ signingKey: KEY, authentication }).on('*', (event) => events.push(event));
    inner.observe(() => {});
    const innerUrl = await serve({
      receive: (delivery) => {
        deliveries.push(delivery);
        return inner.receive(delivery);
      },
    });
    const { url } = await startListening(['--forward', innerUrl], { BEARER_TOKEN: 'to-ken' });
    const sent = Array.from({ length: 5 }, () => createEvent('transfer.created'));
    const answers = await Promise.all(sent.map((event) => deliver(url, event, { key: KEY, authentication })));
    expect(await Promise.all(answers.map(outcomeOf))).toEqual(sent.map(() => '200 processed'));
    expect(events.map(({ id }) => id).sort()).toEqual(sent.map(({ id }) => id).sort());
    expect(await outcomeOf(await deliver(url, sent[0] ?? {}, { key: 'other', authentication }))).toBe(
      '403 signature_mismatch',
    );
    expect(deliveries).toHaveLength(5);
  });
});

async function startShell(script: string): Promise<void> {
  await once(spawn('sh', ['-c', script], { stdio: 'ignore' }), 'close');
}
