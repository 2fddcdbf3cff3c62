import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonLines, posthorn } from './posthorn.ts';
import { signedByOpenssl } from './signed-by-openssl.ts';

const KEY = 'whsec_of_the_tests';
const BODY = '{"id":"evt_1","type":"transfer.created","name":"Ünal"}';
const signature = signedByOpenssl(BODY, KEY);

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'posthorn-verify-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('posthorn verify', () => {
  test('says that a signature of openssl verifies, for a file', async () => {
    const file = join(directory, 'body.json');
    writeFileSync(file, BODY);
    const { code, stdout, stderr } = await posthorn(['verify', file, '--signature', signature, '--key', KEY]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('verified: the signature matches these 55 bytes\n');
  });

  test('reads stdin, takes the key from SIGNING_KEY, and accepts upper-case hex', async () => {
    const args = ['verify', '--signature', signature.toUpperCase(), '--json'];
    const ended = await posthorn(args, { input: BODY, env: { SIGNING_KEY: KEY } });
    expect(ended.code).toBe(0);
    expect(jsonLines(ended)).toEqual([{ verified: true, bytes: 55, hints: [] }]);
  });

  test.each([
    { mistake: 'a line end that was added', body: `${BODY}\n`, hint: /line end that was not signed/ },
    { mistake: 'a Windows line end', body: `${BODY}\r\n`, hint: /line end that was not signed/ },
    { mistake: 'a byte order mark', body: `\ufeff${BODY}`, hint: /byte order mark/ },
    {
      mistake: 'JSON written anew',
      body: JSON.stringify(JSON.parse(BODY), null, 2),
      hint: /serialized again/,
    },
    { mistake: 'a key with a line end', key: `${KEY}\n`, hint: /white space around it/ },
    { mistake: 'a key in quotes', key: `"${KEY}"`, hint: /key has quotes around it: remove it/ },
    {
      mistake: 'a key in quotes with a line end',
      key: `'${KEY}'\n`,
      hint: /white space and quotes around it/,
    },
    { mistake: 'a prefix', given: `sha256=${signature}`, hint: /around its 64 hexadecimal digits/ },
    { mistake: 'base64', given: Buffer.from(signature, 'hex').toString('base64'), hint: /in base64/ },
  ])('names $mistake', async ({ body = BODY, key = KEY, given = signature, hint }) => {
    const args = ['verify', '--signature', given, '--json'];
    const ended = await posthorn(args, { input: body, env: { SIGNING_KEY: key } });
    expect(ended.code).toBe(1);
    expect(jsonLines(ended)).toMatchObject([{ verified: false, hints: [expect.stringMatching(hint)] }]);
  });

  test.each([
    { mistake: 'the line end was lost', signed: `${BODY}\n`, hint: /lost the line end/ },
    {
      mistake: 'the line ends were changed',
      signed: '{\r\n}',
      body: '{\n}',
      hint: /CR LF when it was signed/,
    },
    { mistake: 'CR was added', signed: '{\n}', body: '{\r\n}', hint: /changed to CR LF/ },
  ])('names it where $mistake', async ({ signed, body = BODY, hint }) => {
    const args = ['verify', '--signature', signedByOpenssl(signed, KEY), '--json'];
    const ended = await posthorn(args, { input: body, env: { SIGNING_KEY: KEY } });
    expect(jsonLines(ended)).toMatchObject([{ verified: false, hints: [expect.stringMatching(hint)] }]);
  });

  test.each([
    { form: 'hex', key: Buffer.from(KEY).toString('hex') },
    { form: 'base64', key: Buffer.from(KEY).toString('base64') },
  ])(
    'names a key that is the $form of the one that signed, and two mistakes at once',
    async ({ form, key }) => {
      const args = ['verify', '--signature', signature, '--key', key, '--json'];
      const ended = await posthorn(args, { input: `${BODY}\n` });
      const hints = [
        expect.stringContaining(form.replace('hex', 'hexadecimal')),
        expect.stringContaining('line end'),
      ];
      expect(jsonLines(ended)).toMatchObject([{ verified: false, hints }]);
    },
  );

  test('without an explanation it says what remains, and nothing secret', async () => {
    const { code, stdout, stderr } = await posthorn('verify --signature abc --key another-key', {
      input: BODY,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^not verified: 55 bytes\n {2}.*: it has 3 characters, all of them hex digits, and must have 64 hexadecimal digits\n {2}either the key .*\n$/,
    );
    expect(stdout + stderr).not.toContain('another-key');
  });

  test.each([
    {
      what: 'no key',
      args: ['verify', '--signature', signature],
      message: /SIGNING_KEY.*\(usage_invalid\)\n$/,
    },
    {
      what: 'no signature',
      args: ['verify', '--key', KEY],
      message: /give --signature, or the headers .* in --header/,
    },
    {
      what: 'no such file',
      args: ['verify', 'absent.json', '--signature', signature, '--key', KEY],
      message: /ENOENT.*\(file_unreadable\)\n$/,
    },
  ])('$what is exit code 2', async ({ args, message }) => {
    const { code, stdout, stderr } = await posthorn(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});
