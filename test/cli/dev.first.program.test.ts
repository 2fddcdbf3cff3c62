import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { describe, expect, test } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { KEY } from '../support/served.ts';
import { refusal } from './ended.ts';
import { jsonLines, posthorn, startPosthorn } from './posthorn.ts';
import { startDev } from './started-dev.ts';

/** Nobody listens there, nor gets that port as a free one. Port 1 would not do: fetch refuses to ask it. */
const NOBODY = 'http://127.0.0.1:2';

/** A receiver whose handler fails as often as it is told to. */
async function receive(failures = 0): Promise<string> {
  let left = failures;
  const receiver = createReceiver({ signingKey: KEY });
  receiver.observe(() => {});
  receiver.on('*', () => {
    left -= 1;
    if (left >= 0) throw new Error('not yet');
  });
  return `${await listenUntilTheEnd(toNode(receiver))}/webhooks`;
}

describe('posthorn dev', () => {
  test('says where its page is, and shows what trigger and advance bring about', async () => {
    const to = await receive(1);
    const { program, url, run } = await startDev(to);
    await program.line(/posthorn deliveries/);
    expect(program.lines).toEqual([
      `page         ${url}/`,
      expect.stringMatching(new RegExp(`^webhook      WH\\w+ to ${to}, a step ages its events$`)),
      'signing key  that of SIGNING_KEY or --key',
      'to try in another terminal:',
      `  posthorn trigger transfer.succeeded --sandbox ${url}`,
      `  posthorn trigger transfer.succeeded --duplicate --sandbox ${url}`,
      `  posthorn advance 21m --sandbox ${url}`,
      `  posthorn deliveries --sandbox ${url}`,
    ]);
    expect(await (await fetch(`${url}/`)).text()).toContain('<title>posthorn sandbox</title>');

    const triggered = await run('trigger', 'transfer.succeeded', '--id', 'evt_1');
    expect(triggered).toMatchObject({ code: 0, stderr: '' });
    const failed = / transfer\.succeeded evt_1 attempt 1 500 handler_failed \d+ ms again after 1 min$/;
    expect(triggered.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/Z transfer\.succeeded evt_1 has happened$/),
      expect.stringMatching(failed),
    ]);
    await program.line(failed);

    const advanced = await run('advance', '1m');
    expect(advanced.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(
        /^\S+Z transfer\.succeeded evt_1 attempt 2 aged \d+ (s|min) 200 processed \d+ ms$/,
      ),
      'what has not ended is 1 min older',
    ]);
    await program.line(/evt_1 attempt 2 aged \d+ (s|min) 200 processed/);
    const listed = await run('deliveries', '--event', 'evt_1');
    expect(listed.stdout.trim().split('\n')).toHaveLength(2);
    program.kill('SIGINT');
    expect(await program.exit).toBe(0);
  });

  test('prints the same as lines of JSON, and makes up a key where none is given', async () => {
    const { program, run } = await startDev(await receive(), ['--json'], { BEARER_TOKEN: 'to-ken' });
    const [listening] = program.lines.map((line) => JSON.parse(line));
    expect(listening).toMatchObject({
      kind: 'listening',
      page: expect.stringMatching(/^http:.*\/$/),
      webhook: { id: expect.stringMatching(/^WH/) },
      secret_signing_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const triggered = await run('trigger', 'dispute.won', '--data', '{"id":"DI1"}', '--json');
    expect(jsonLines(triggered)).toMatchObject([
      { kind: 'event', type: 'dispute.won' },
      { kind: 'delivery', type: 'dispute.won', status: 403, outcome: 'signature_mismatch', number: 1 },
    ]);
    const delivery = await program.line(/"delivery"/);
    expect(JSON.parse(JSON.parse(delivery).request.body)).toMatchObject({ data: { id: 'DI1' } });
    expect(`${program.lines.join()}${triggered.stdout}`).not.toContain('to-ken');
  });

  test('--event narrows down what is delivered', async () => {
    const { run } = await startDev(await receive(), ['--event', 'transfer.*', '--event', 'dispute.won']);
    expect((await run('trigger', 'dispute.won')).stdout).toContain('200 processed');
    expect(await run('trigger', 'dispute.lost')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\S+ dispute\.lost \S+ has happened\n$/),
      stderr:
        'nothing was delivered: no webhook of the sandbox is enabled and wants this type. The page has a button that enables one again\n',
    });
  });

  test('duplicates, changed events, and events out of order', async () => {
    const { run } = await startDev(await receive());
    const outcomes = async (...args: string[]) =>
      jsonLines(await run('trigger', 'transfer.updated', '--json', ...args))
        .slice(1)
        .map(({ duplicate, status, outcome }) => `${duplicate ? 'copy ' : ''}${status} ${outcome}`);
    expect((await outcomes('--duplicate')).sort()).toEqual([
      expect.stringMatching(/^200 (processed|duplicate)$/),
      expect.stringMatching(/^copy 200 (processed|duplicate)$/),
    ]);
    expect(await outcomes('--changed')).toEqual(['403 signature_mismatch']);
    expect(await outcomes('--out-of-order')).toEqual(['200 processed', '200 processed']);
    expect(await run('trigger', 'transfer.updated', '--changed', '--duplicate')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^posthorn: option '--duplicate' cannot be used with option '--changed'\n$/,
      ),
    });
  });

  test('tells that nothing listens; deliveries fail, and come once something does', async () => {
    const { program, run } = await startDev(`${NOBODY}/webhooks?token=hidden`);
    expect(await program.line(/^nothing listens/)).toMatch(
      /^nothing listens at http:\/\/127\.0\.0\.1:\d+\/webhooks yet: until then deliveries fail, and are retried$/,
    );
    const { stdout } = await run('trigger', 'transfer.created');
    expect(stdout).toMatch(
      /attempt 1 no answer \d+ ms connect ECONNREFUSED \S+ again after 1 min\n {2}nothing listens at .*\n$/,
    );
    expect((await run('advance')).stdout).toMatch(/attempt 2 aged \d+ \S+ no answer .* again after 5 min\n/);
    expect((await run('advance')).stdout).toMatch(/attempt 3 aged .* no answer .* again after 15 min\n/);
    expect((await run('advance')).stdout).toMatch(
      /attempt 4 aged .* no answer .* given up: the webhook is disabled, until a button of the page enables it again\n/,
    );
    expect(await run('advance')).toMatchObject({
      code: 1,
      stderr: 'posthorn: No delivery is pending (failed)\n',
    });
    expect((await run('trigger', 'transfer.created')).stderr).not.toMatch(/ahead/);
    expect(program.lines.join('\n')).not.toContain('hidden');
  });

  test('without --to it takes the usual address, and says so', async () => {
    const program = startPosthorn(['dev', '--port', '0'], { SIGNING_KEY: KEY });
    expect(await program.line(/^webhook/)).toMatch(
      / to http:\/\/localhost:3000\/webhooks \(the usual address: --to takes another\), a step ages its events$/,
    );
    const json = startPosthorn(['dev', '--port', '0', '--json'], { SIGNING_KEY: KEY });
    expect(JSON.parse(await json.line(/"listening"/))).toMatchObject({
      webhook: { url: 'http://localhost:3000/webhooks' },
    });
  });

  test('a port that is taken is one line, and says the way out', async () => {
    const { url } = await startDev(await receive());
    const ended = await posthorn(['dev', '--to', 'http://127.0.0.1:1/', '--port', new URL(url).port]);
    expect(ended).toEqual(
      refusal(
        2,
        expect.stringMatching(/^posthorn: port \d+ of 127\.0\.0\.1 is taken \(EADDRINUSE\), .* --port.*\n$/),
      ),
    );
  });

  test.each([
    { args: ['--to', 'localhost:3000'], code: 2, message: /--to takes an address that begins with http/ },
    { args: ['--to', 'http://example.com/'], code: 1, message: /URL must use the HTTPS protocol/ },
    {
      args: ['--to', 'http://localhost/', '--event', 'transfer.succeded'],
      code: 2,
      message: /Did you mean transfer\.succeeded\?/,
    },
  ])('$args ends with exit code $code', async ({ args, code, message }) => {
    const ended = await posthorn(['dev', '--port', '0', ...args]);
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  });
});

describe('trigger, advance and deliveries', () => {
  const commands = [['trigger', 'transfer.failed'], ['advance', '1m'], ['deliveries']];

  test.each(commands)('%s says that no sandbox runs, exit code 3', async (...args) => {
    const env = { POSTHORN_SANDBOX: NOBODY };
    const { code, stdout, stderr } = await posthorn(args, { env });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(
      /^posthorn: no sandbox answers at http:\S+ \(.*ECONNREFUSED.*\): start one with posthorn dev or posthorn sandbox, .*--sandbox or POSTHORN_SANDBOX \(unreachable\)\n$/,
    );
  });

  test.each(commands)('%s says that something else answers there', async (...args) => {
    const to = await receive();
    const { code, stderr } = await posthorn([...args, '--sandbox', new URL(to).origin]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `posthorn: the server at ${new URL(to).origin}/ is not a sandbox of posthorn (failed)\n`,
    });
  });

  test.each([
    { args: ['trigger', 'transfer.suceeded'], message: /did you mean transfer\.succeeded\?.*--any/ },
    { args: ['trigger', 'transfer.failed', '--data', '{'], message: /not JSON/ },
    { args: ['advance', 'soon'], message: /must be a duration such as/ },
    { args: ['deliveries', '--sandbox', 'here'], message: /--sandbox takes an address/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    expect(await posthorn(args)).toMatchObject(refusal(2, expect.stringMatching(message)));
  });
});
