import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalog } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { refusal } from './ended.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { startSandbox } from './sandboxed.ts';

const URL = 'http://127.0.0.1:3000/webhooks';

describe('posthorn webhooks create', () => {
  test('prints the signing key exactly once, and says that it cannot be read again', async () => {
    const { webhooks } = await startSandbox();
    const { code, stdout, stderr } = await webhooks('create', URL);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, note, key, end] = stdout.split('\n');
    expect(first).toMatch(/^created \S+ enabled http:\/\/127\.0\.0\.1:3000\/webhooks \* NONE$/);
    expect(note).toContain('it cannot be read again');
    expect(key).toMatch(/^ {2}\S{16,}$/);
    expect(end).toBe('');
    expect(stdout.split(String(key).trim())).toHaveLength(2);
    expect((await webhooks('list', '--json', '--show-credentials')).stdout).not.toContain(String(key).trim());
  });

  test('takes patterns of events and credentials of the environment', async () => {
    const { env } = await startSandbox();
    const args = [
      '--event',
      'transfer.*',
      '--event',
      'merchant.verification.*',
      '--event',
      'dispute.won',
      '--json',
    ];
    const ended = await posthorn(['webhooks', 'create', URL, ...args, '--authentication', 'basic'], {
      env: { ...env, BASIC_USERNAME: 'billing', BASIC_PASSWORD: 'hidden' },
    });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(ended)).toMatchObject([
      {
        webhook: {
          url: URL,
          enabled: true,
          enabled_events: [
            { entity: 'transfer', types: ['created', 'succeeded', 'failed', 'updated'] },
            { entity: 'merchant', types: ['verification.succeeded', 'verification.failed'] },
            { entity: 'dispute', types: ['won'] },
          ],
          authentication: { type: 'BASIC', basic: { username: 'billing', password: '********' } },
        },
        secret_signing_key: expect.stringMatching(/\S{16,}/),
      },
    ]);
    expect(ended.stdout).not.toContain('hidden');
    const shown = await posthorn(['webhooks', 'list', '--show-credentials'], { env });
    expect(shown.stdout).toMatch(
      / transfer\.created,transfer\.succeeded,transfer\.failed,transfer\.updated,merchant\.verification\.succeeded,\S+,dispute\.won BASIC billing:hidden\n$/,
    );
  });

  test.each([
    { command: 'create', args: [URL] },
    { command: 'ensure', args: [URL] },
    { command: 'update', args: [] },
  ])('$command sends each type of transfer.* and the like by its name', async ({ command, args }) => {
    const sandbox = await startSandbox();
    const place = command === 'update' ? [(await sandbox.create(URL)).id] : args;
    const patterns = Object.keys(catalog).flatMap((entity) => ['--event', `${entity}.*`]);
    const [result] = await sandbox.results(command, ...place, ...patterns);
    expect(Object(result).webhook.enabled_events).toEqual(
      Object.entries(catalog).map(([entity, types]) => ({ entity, types })),
    );
    // A second time nothing is left to change.
    if (command === 'ensure') {
      expect(await sandbox.results(command, ...place, ...patterns)).toMatchObject([{ changes: [] }]);
    }
  });

  test('--key-file keeps the key in a new file of its owner only', async () => {
    const sandbox = await startSandbox();
    const file = join(temporaryDirectory(), 'key');
    const { code, stdout } = await sandbox.webhooks('create', URL, '--key-file', file);
    expect(code).toBe(0);
    const key = readFileSync(file, 'utf8');
    expect(key).toMatch(/^\S{16,}$/);
    expect(stdout).toContain(file);
    expect(stdout).not.toContain(key);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const again = await sandbox.webhooks('create', URL, '--key-file', file);
    expect(again).toMatchObject(refusal(2, expect.stringMatching(/EEXIST.*\(file_unreadable\)/)));
    expect(readFileSync(file, 'utf8')).toBe(key);
    expect(await sandbox.results('list')).toHaveLength(1);
  });

  test('what the service refuses is one line with its words, and leaves no file', async () => {
    const { webhooks } = await startSandbox();
    const file = join(temporaryDirectory(), 'key');
    const ended = await webhooks('create', 'http://example.com/', '--key-file', file);
    expect(ended).toEqual(
      refusal(1, 'posthorn: Invalid URL: URL must use the HTTPS protocol (service_refused 400)\n'),
    );
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe('posthorn webhooks', () => {
  test('list masks what is secret unless it is asked for', async () => {
    const sandbox = await startSandbox();
    await sandbox.create(URL, '--bearer', 'to-ken');
    expect(await sandbox.results('list')).toMatchObject([
      { url: URL, authentication: { type: 'BEARER', bearer: { token: '********' } } },
    ]);
    expect((await sandbox.webhooks('list')).stdout).toMatch(/ BEARER \*{8}\n$/);
    expect((await sandbox.webhooks('list', '--show-credentials')).stdout).toMatch(/ BEARER to-ken\n$/);
  });

  test('list goes through all pages', async () => {
    const { results, url } = await startSandbox();
    const authorization = `Basic ${Buffer.from('sandbox-admin:sandbox-password').toString('base64')}`;
    for (let count = 0; count < 105; count += 1) {
      const body = JSON.stringify({ url: `https://example.com/${count}` });
      const headers = { authorization, 'content-type': 'application/json' };
      await fetch(`${url}/payments/na/webhooks`, { method: 'POST', headers, body });
    }
    const urls = (await results('list')).map((webhook) => webhook.url);
    expect(new Set(urls).size).toBe(105);
  });

  test('show, update, disable and enable', async () => {
    const sandbox = await startSandbox();
    const { id } = await sandbox.create(URL, '--bearer', 'to-ken');
    const changed = 'https://example.com/other';
    await sandbox.results('update', id, '--url', changed, '--event', 'dispute.*');
    expect(await sandbox.results('show', id, '--show-credentials')).toMatchObject([
      { id, url: changed, enabled: true, authentication: { bearer: { token: 'to-ken' } } },
    ]);
    expect((await sandbox.webhooks('show', id)).stdout).toMatch(
      new RegExp(
        `^${id} enabled ${changed} dispute\\.created,dispute\\.updated,dispute\\.won,dispute\\.lost BEARER \\*+\\n {2}created \\S+Z, updated \\S+Z\\n$`,
      ),
    );
    expect((await sandbox.webhooks('disable', id)).stdout).toMatch(new RegExp(`^disabled ${id} disabled `));
    expect((await sandbox.webhooks('enable', id)).stdout).toMatch(new RegExp(`^enabled ${id} enabled `));
    await sandbox.results('update', id, '--event', '*', '--authentication', 'none');
    expect(await sandbox.results('show', id)).toMatchObject([
      { enabled_events: [], authentication: { type: 'NONE' } },
    ]);
  });

  test('ensure says what it changed, and gives a key only from a creation', async () => {
    const sandbox = await startSandbox();
    const file = join(temporaryDirectory(), 'key');
    const [created] = await sandbox.results('ensure', URL, '--key-file', file);
    expect(created).toMatchObject({ changes: ['created'], keyFile: file, webhook: { enabled: true } });
    // A deployment runs the same command each time.
    const [same] = await sandbox.results('ensure', URL, '--key-file', file);
    expect(same).toEqual({ webhook: Object(created).webhook, changes: [] });
    const { stdout } = await sandbox.webhooks('ensure', URL, '--event', 'dispute.won', '--disable');
    expect(stdout).toMatch(/^changed \(enabled_events, enabled\) \S+ disabled \S+ dispute\.won NONE\n$/);
    expect((await sandbox.webhooks('ensure', URL)).stdout).toMatch(/^unchanged /);
    expect(await sandbox.results('list')).toHaveLength(1);
  });

  test('an ensure that needs no key leaves no file, and one that does never writes over one', async () => {
    const sandbox = await startSandbox();
    await sandbox.create(URL);
    const file = join(temporaryDirectory(), 'key');
    await sandbox.results('ensure', URL, '--key-file', file);
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
    writeFileSync(file, 'precious');
    const [other] = await sandbox.results('ensure', 'https://example.com/', '--key-file', file);
    expect(other).toMatchObject({ changes: ['created'], secret_signing_key: expect.any(String) });
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  test('an unknown id is exit code 1, a wrong password too', async () => {
    const { env, webhooks } = await startSandbox();
    expect(await webhooks('show', 'WH_x')).toEqual(
      refusal(1, 'posthorn: Webhook not found (service_refused 404)\n'),
    );
    const ended = await posthorn(['webhooks', 'list'], {
      env: { ...env, POSTHORN_PASSWORD: 'wrong-secret' },
    });
    expect(ended).toMatchObject(refusal(1, expect.stringMatching(/\(service_refused 401\)\n$/)));
    expect(ended.stderr).not.toContain('wrong-secret');
  });

  test('nobody there is exit code 3', async () => {
    const base = `http://127.0.0.1:${await freePort()}`;
    const ended = await posthorn(`webhooks create ${URL} --base-url ${base} --username a --password hidden`);
    expect(ended).toMatchObject(refusal(3, expect.stringMatching(/\(service_unreachable\)\n$/)));
    expect(ended.stderr).not.toContain('hidden');
  });

  test.each([
    { args: ['list', '--base-url', 'http://h'], message: /administrator is missing: set POSTHORN_USERNAME/ },
    { args: ['update', 'WH1'], message: /say what to change/ },
    { args: ['create', URL, '--event', 'transfer'], message: /matches no type of the service.* Give --any/ },
    { args: ['create', URL, '--any', '--event', 'payout.*'], message: /must name a type in full/ },
    {
      args: ['create', URL, '--authentication', 'basic'],
      message: /needs BASIC_USERNAME and BASIC_PASSWORD/,
    },
    {
      args: ['create', URL, '--authentication', 'basic', '--bearer', 'hidden'],
      message: /contradicts --bearer/,
    },
    {
      args: ['create', URL, '--authentication', 'none', '--bearer', 'hidden'],
      message: /contradicts --bearer/,
    },
    { args: ['ensure', URL, '--enable', '--disable'], message: /not both/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    const env =
      args[0] === 'list'
        ? {}
        : { POSTHORN_BASE_URL: 'http://h', POSTHORN_USERNAME: 'a', POSTHORN_PASSWORD: 'b' };
    const ended = await posthorn(['webhooks', ...args], { env });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(ended.stderr).not.toContain('hidden');
  });
});
