import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../support/awaited-later.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { refusal } from './ended.ts';
import { openBehind, outcomeOf, startListening } from './listening.ts';
import { posthorn } from './posthorn.ts';

const env = { SIGNING_KEY: KEY };

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
    const answer = awaitedLater(deliver(url, createEvent('transfer.created'), { key: KEY }));
    const { answerWith } = await behind.next();
    program.kill('SIGTERM');
    await until('it takes no new connections', async () => !(await isOpen(url)));
    answerWith(200);
    expect(await outcomeOf(await answer)).toBe('200 processed');
    expect(await program.exit).toBe(0);
  });

  test('without a key it does not start', async () => {
    expect(await posthorn(['listen'])).toEqual(
      refusal(2, expect.stringMatching(/^posthorn: .*SIGNING_KEY.*--key \(usage_invalid\)\n$/)),
    );
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

function isOpen(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
      .on('connect', () => {
        socket.destroy();
        resolve(true);
      })
      .on('error', () => resolve(false));
  });
}
