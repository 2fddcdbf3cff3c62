import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startListening } from './listening.ts';
import { curl, type Sandboxed, startSandbox } from './sandboxed.ts';

/** Starts `posthorn listen` with the credentials of the webhook. */
function listenWith(key: string, ...args: string[]): ReturnType<typeof startListening> {
  return startListening(args, { SIGNING_KEY: key, BEARER_TOKEN: 'to-ken' });
}

function happen({ url }: Sandboxed, id: string): void {
  curl('POST', `${url}/sandbox/events`, { type: 'transfer.succeeded', id });
}

/** The statuses of an event's attempts; `error` where there was no answer. */
function attempts({ url }: Sandboxed, event: string): unknown[] {
  const list = curl('GET', `${url}/sandbox/deliveries?event=${event}`);
  if (!Array.isArray(list)) throw new Error('no list');
  return list.map(({ status }) => status ?? 'error');
}

test('what the sandbox delivers is listened to, and its retries follow its clock', async () => {
  const sandbox = await startSandbox();
  const { id, key } = await sandbox.create('http://127.0.0.1:1/webhooks', '--bearer', 'to-ken');
  happen(sandbox, 'evt_1'); // nobody listens on that port
  sandbox.advance(0);
  expect(attempts(sandbox, 'evt_1')).toEqual(['error']);

  const { program, url } = await listenWith(key);
  await sandbox.results('update', id, '--url', url);
  happen(sandbox, 'evt_2');
  await program.line(/^ {2}processed 200 transfer\.succeeded evt_2 /);
  sandbox.advance(59_999);
  expect(attempts(sandbox, 'evt_1')).toEqual(['error']);
  sandbox.advance(1);
  expect(attempts(sandbox, 'evt_1')).toHaveLength(2);
});

test('what the receiver behind --forward fails is sent again after 1, 5 and 15 minutes', async () => {
  const sandbox = await startSandbox();
  const { id, key } = await sandbox.create('https://example.com/', '--bearer', 'to-ken');
  const forwarded = `http://127.0.0.1:${await freePort()}/webhooks`;
  const front = await listenWith(key, '--forward', forwarded);
  await sandbox.results('update', id, '--url', front.url);
  happen(sandbox, 'evt_1');
  sandbox.advance(60_000);
  sandbox.advance(299_999);
  expect(attempts(sandbox, 'evt_1')).toEqual([500, 500]);
  await listenWith(key, '--port', new URL(forwarded).port);
  sandbox.advance(1);
  expect(attempts(sandbox, 'evt_1')).toEqual([500, 500, 200]);
  sandbox.advance(900_000);
  expect(attempts(sandbox, 'evt_1')).toHaveLength(3);
});

test('a key is rotated in two steps while a receiver runs, and no event is refused in the end', async () => {
  const sandbox = await startSandbox();
  const listening = await listenWith('unused');
  const { id, key: oldKey } = await sandbox.create(listening.url, '--bearer', 'to-ken');
  const keyFile = join(temporaryDirectory(), 'key');

  const begun = await sandbox.webhooks('rotate', id, '--key-file', keyFile);
  expect(begun).toMatchObject({ code: 0, stderr: '' });
  const newKey = readFileSync(keyFile, 'utf8');
  expect(newKey).not.toBe(oldKey);
  expect(begun.stdout).not.toContain(newKey);
  const [, newId] =
    new RegExp(`^ {2}posthorn webhooks rotate ${id} --resume (\\S+) --key-file ${keyFile}$`, 'm').exec(
      begun.stdout,
    ) ?? [];
  const states = async (): Promise<unknown> =>
    Object.fromEntries((await sandbox.results('list')).map(({ id, enabled }) => [id, enabled]));
  expect(await states()).toEqual({ [id]: true, [String(newId)]: false });

  const lost = await sandbox.webhooks('rotate', id, '--resume', String(newId));
  expect(lost).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('NEW_SIGNING_KEY') });

  const args = ['rotate', id, '--resume', String(newId), '--key-file', keyFile];
  const [finished] = await sandbox.results(...args);
  expect(finished).toMatchObject({
    webhook: { id: newId, enabled: true },
    previous: { id, enabled: false },
  });
  expect(JSON.stringify(finished)).not.toMatch(/to-ken|secret_signing_key/);
  expect(await states()).toEqual({ [id]: false, [String(newId)]: true });
  expect(await sandbox.results(...args)).toHaveLength(1); // can be repeated

  const { program, url } = await listenWith(newKey);
  await sandbox.results('update', String(newId), '--url', url);
  happen(sandbox, 'evt_1');
  await program.line(/^ {2}processed 200 transfer\.succeeded evt_1 /);
});

test('a rotation whose key was lost starts over', async () => {
  const sandbox = await startSandbox();
  const { id } = await sandbox.create('https://example.com/');
  const [first] = await sandbox.results('rotate', id);
  expect(first).toEqual({
    id: expect.any(String),
    previous: id,
    secret_signing_key: expect.stringMatching(/\S{16,}/),
  });
  const [second] = await sandbox.results('rotate', id);
  expect(second?.secret_signing_key).not.toBe(first?.secret_signing_key);
  const enabled = (await sandbox.results('list')).filter((item) => item.enabled);
  expect(enabled).toMatchObject([{ id }]);
});
