import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { DeadLetter } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { signedByOpenssl } from './signed-by-openssl.ts';

const env = { SIGNING_KEY: KEY };

interface Request {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A plain server that keeps what it is sent and gives one answer. */
async function openServer(status: number, body: string, headers: Record<string, string> = {}) {
  const requests: Request[] = [];
  const url = await listenUntilTheEnd(async (request, response) => {
    requests.push({ method: request.method, headers: request.headers, body: await text(request) });
    response.writeHead(status, headers).end(body);
  });
  return { url: `${url}/webhooks`, requests };
}

describe('posthorn send', () => {
  test('sends an event that a receiver takes, and prints the answer without colours', async () => {
    const { url, reports } = await openEndpoint({}, (receiver) => receiver.on('*', () => {}));
    const { code, stdout, stderr } = await posthorn(`send transfer.succeeded --to ${url} --id evt_1`, {
      env,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^200 transfer\.succeeded evt_1 \d+ ms\n\{"outcome":"processed","id":"evt_1"\}\n$/,
    );
    expect(reports.all).toMatchObject([{ outcome: 'processed', event: { id: 'evt_1' } }]);
  });

  test('--age makes an event that is old from the start, so that a failure is parked at once', async () => {
    const letters = new Map<string, DeadLetter>();
    const deadLetters = createMapDeadLetters(letters);
    const { url } = await openEndpoint({ deadLetters }, (receiver) => receiver.on('*', throwing('always')));
    const send = (age: string) =>
      posthorn(['send', 'transfer.failed', '--to', url, '--age', age, '--json'], { env });
    expect(jsonLines(await send('13m'))).toMatchObject([{ status: 500 }]);
    const [answer] = jsonLines(await send('14m'));
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('"parked"') });
    expect([...letters.keys()]).toEqual([answer?.event]);
  });

  test.each(['14', '36501d', '-1m', ''])('--age %s is exit code 2, and says what is allowed', async (age) => {
    const { code, stderr } = await posthorn(`send transfer.failed --to http://127.0.0.1:1/ --age ${age}`);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        `posthorn: option '--age <duration>' argument '${age}' is invalid. ` +
        'It must be a duration such as 30s, 14m, 20m59s or 2h, of 36500d at most.\n',
    });
  });

  test('signs the very bytes, as openssl does, under the header that was asked for', async () => {
    const { url, requests } = await openServer(204, '');
    const args = [
      'send',
      'dispute.created',
      '--to',
      url,
      '--key',
      'other',
      '--signature-header',
      'X-Vendor-Signature',
    ];
    const ended = await posthorn([...args, '--data', '-', '--json'], {
      input: '{"id": "D1", "ü": [1, 2]}',
      env,
    });
    expect(ended.code).toBe(0);
    const [{ method, headers, body } = { headers: {}, body: '', method: '' }] = requests;
    expect({ method, type: headers['content-type'] }).toEqual({ method: 'POST', type: 'application/json' });
    expect(headers['x-vendor-signature']).toBe(signedByOpenssl(body, 'other'));
    const event = JSON.parse(body);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'dispute.created',
      created_at: expect.any(String),
      data: { id: 'D1', ü: [1, 2] },
    });
    expect(Math.abs(Date.now() - Date.parse(event.created_at))).toBeLessThan(60_000);
    expect(jsonLines(ended)).toEqual([
      { event: event.id, type: 'dispute.created', status: 204, body: '', durationMs: expect.any(Number) },
    ]);
  });

  test('--twice sends the same event again', async () => {
    const { url } = await openEndpoint({}, (receiver) => receiver.on('*', () => {}));
    const ended = await posthorn(['send', 'transfer.created', '--to', url, '--twice', '--json'], { env });
    expect(ended.code).toBe(0);
    const answers = jsonLines(ended);
    expect(answers.map(({ body }) => JSON.parse(String(body)).outcome)).toEqual(['processed', 'duplicate']);
    expect(answers[0]?.event).toBe(answers[1]?.event);
  });

  test('--tamper is refused', async () => {
    const { url } = await openEndpoint({}, (receiver) => receiver.on('*', () => {}));
    const ended = await posthorn(['send', 'transfer.created', '--to', url, '--tamper', '--json'], { env });
    expect(ended.code).toBe(1);
    expect(jsonLines(ended)).toMatchObject([
      { status: 403, body: expect.stringContaining('signature_mismatch') },
    ]);
  });

  test.each([
    { from: '--basic', args: ['--basic', 'billing:p:ass'], env: {} },
    { from: 'the environment', args: [], env: { BASIC_USERNAME: 'billing', BASIC_PASSWORD: 'p:ass' } },
    { from: '--basic over BEARER_TOKEN', args: ['--basic', 'billing:p:ass'], env: { BEARER_TOKEN: 'token' } },
  ])('presents BASIC credentials of $from', async ({ args, env: more }) => {
    const { url, requests } = await openServer(200, 'fine');
    await posthorn(['send', 'transfer.created', '--to', url, ...args], { env: { ...env, ...more } });
    expect(requests[0]?.headers.authorization).toBe('Basic YmlsbGluZzpwOmFzcw==');
  });

  test.each([
    { from: '--bearer', args: ['--bearer', 'to-ken'], env: {} },
    { from: 'the environment', args: [], env: { BEARER_TOKEN: 'to-ken' } },
  ])('presents the BEARER token of $from', async ({ args, env: more }) => {
    const { url, requests } = await openServer(200, 'fine');
    await posthorn(['send', 'transfer.created', '--to', url, ...args], { env: { ...env, ...more } });
    expect(requests[0]?.headers.authorization).toBe('Bearer to-ken');
  });

  test('a redirect is no success, and is not followed', async () => {
    const target = await openServer(200, '');
    const { url } = await openServer(307, '', { location: target.url });
    const { code, stdout } = await posthorn(['send', 'transfer.created', '--to', url], { env });
    expect({ code, status: stdout.slice(0, 4) }).toEqual({ code: 1, status: '307 ' });
    expect(target.requests).toEqual([]);
  });

  test('an answer cannot drive the terminal, with --json either', async () => {
    const { url } = await openServer(200, 'a\u001b[31mb\u009b1m\u202e\nc\td');
    const plain = await posthorn(['send', 'transfer.created', '--to', url], { env });
    expect(plain.stdout).toContain('\na\\u{1b}[31mb\\u{9b}1m\\u{202e}\nc\td\n');
    const json = await posthorn(['send', 'transfer.created', '--to', url, '--json'], { env });
    expect(json.stdout).toMatch(/^[\x20-\x7e]+\n$/);
    expect(jsonLines(json)).toMatchObject([{ body: 'a\u001b[31mb\u009b1m\u202e\nc\td' }]);
  });

  test('nobody there is exit code 3, on one line without the query', async () => {
    const url = `http://127.0.0.1:${await freePort()}/webhooks?token=secret`;
    const { code, stdout, stderr } = await posthorn(['send', 'transfer.created', '--to', url], { env });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(
      /^posthorn: no answer from http:\/\/\S+\/webhooks: .*ECONNREFUSED.* \(unreachable\)\n$/,
    );
  });

  test.each([
    { type: 'transfer.suceeded', nearest: 'transfer.succeeded' },
    { type: 'transfers.failed', nearest: 'transfer.failed' },
    { type: 'settlement.transfer.failed', nearest: 'settlement.funding_transfer.failed' },
    { type: 'DISPUTE.WON', nearest: 'dispute.won' },
  ])('$type is exit code 2, and the nearest type is named', async ({ type, nearest }) => {
    const { url, requests } = await openServer(200, '');
    const ended = await posthorn(['send', type, '--to', url], { env });
    expect(ended).toEqual({
      code: 2,
      stdout: '',
      stderr:
        `posthorn: ${type} is not a type that the service lists; the nearest is ${nearest}. For another sender give --provider. ` +
        'Give --any to send it anyway (usage_invalid)\n',
    });
    expect(requests).toEqual([]);
  });

  test('--any sends a type that the service does not list', async () => {
    const { url, requests } = await openServer(200, '');
    const ended = await posthorn(['send', 'transfer.exploded', '--to', url, '--any', '--json'], { env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(ended)).toMatchObject([{ type: 'transfer.exploded', status: 200 }]);
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ type: 'transfer.exploded' });
  });

  test.each([
    ['transfer.failed', /^TR/, 'FAILED'],
    ['subscription.canceled', /^SU/, 'CANCELED'],
    ['dispute.lost', /^DI/, 'LOST'],
  ])('without --data %s gets a sample with an id and a state that fit it', async (type, id, state) => {
    const { url, requests } = await openServer(200, '');
    await posthorn(['send', type, '--to', url], { env });
    expect(JSON.parse(requests[0]?.body ?? '').data).toEqual({
      id: expect.stringMatching(id),
      state,
      amount: 1250,
      tags: {},
    });
  });

  test('a type that is not known, and cannot drive the terminal, is one line', async () => {
    const { stderr } = await posthorn(['send', `\u001b[2J${'x'.repeat(100_000)}`, '--to', 'http://h/'], {
      env,
    });
    expect(stderr).toMatch(/^posthorn: \\u\{1b\}\[2Jx+… is not a type /);
    expect(stderr.length).toBeLessThan(1_000);
  });

  test.each([
    { what: 'no address', args: [], message: /--to <url>' not specified/ },
    { what: 'an address with a password', args: ['--to', 'http://u:hidden@h/'], message: /without a user/ },
    { what: 'no http', args: ['--to', 'ftp://hidden/'], message: /http:\/\/ or https:\/\// },
    { what: 'a user without a password', args: ['--basic', 'hidden'], message: /--basic takes a user/ },
    { what: 'a token on two lines', args: ['--bearer', 'hid\nden'], message: /bearer\.token must be/ },
    { what: 'both', args: ['--basic', 'a:hidden', '--bearer', 'hidden'], message: /not both/ },
    {
      what: 'a misspelt option',
      args: ['--keey=hidden'],
      message: /^posthorn: unknown option '--keey=…'\n$/,
    },
    { what: 'data that are no object', args: ['--data', '-'], message: /must be a JSON object/ },
  ])('$what is exit code 2, and no secret is told', async ({ what, args, message }) => {
    const to = what.includes('address') || what === 'no http' ? [] : ['--to', 'http://127.0.0.1:9/'];
    const ended = await posthorn(['send', 'transfer.created', ...to, ...args], { env, input: '[]' });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(ended.stderr).not.toMatch(/hid|\n {4}at /);
  });
});
