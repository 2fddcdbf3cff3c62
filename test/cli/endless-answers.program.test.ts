import { describe, expect, test } from 'vitest';
import { type EndlessReply, openEndlessService } from '../service/client/endless-service.ts';
import { SIGNING_KEY } from '../service/client/secrets.ts';
import { KEY } from '../support/served.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { environmentOf } from './sandboxed.ts';

const MEBIBYTE = 1_048_576;

/** The limit of the commands that ask a sandbox, and what the buffers of two sockets hold. */
const MOST_SENT = 48 * MEBIBYTE;

/** Runs a command against an endless answer, and fails if more than its beginning was taken. */
async function run(args: readonly string[], reply: EndlessReply = {}) {
  const service = await openEndlessService(reply);
  const ended = await posthorn(
    args.map((each) => each.replace('URL', service.url)),
    { env: { ...environmentOf(service.url), SIGNING_KEY: KEY } },
  );
  await service.allEnded();
  expect(service.sentBytes()).toBeLessThan(MOST_SENT);
  return ended;
}

describe('an answer without an end', () => {
  test('send prints its status and its beginning, and says so', async () => {
    const ended = await run(['send', 'transfer.created', '--to', 'URL', '--json'], { status: 404 });
    expect(ended).toMatchObject({
      code: 1,
      stderr: 'the answer is longer than 1048576 bytes: the rest was not read\n',
    });
    expect(jsonLines(ended)).toMatchObject([{ status: 404, truncated: true }]);
    expect(String(jsonLines(ended)[0]?.body)).toHaveLength(MEBIBYTE);
  });

  test.each([['deliveries'], ['trigger', 'transfer.created'], ['advance', '15m']])(
    '%s fails, and names the limit',
    async (...args) => {
      expect(await run(args)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/is longer than 16777216 bytes, and the rest was not read: .*--event/),
      });
    },
  );

  test('webhooks list fails', async () => {
    expect(await run(['webhooks', 'list'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('(answer_too_large 200)'),
    });
  });

  test('webhooks create fails, and prints the key that came with its beginning', async () => {
    const reply = { status: 201, first: `{"secret_signing_key":"${SIGNING_KEY}","note":"` };
    const ended = await run(['webhooks', 'create', 'https://example.com/hooks', '--json'], reply);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('(answer_too_large 201)') });
    expect(jsonLines(ended)).toEqual([{ secret_signing_key: SIGNING_KEY }]);
  });
});
