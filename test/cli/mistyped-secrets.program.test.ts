import { describe, expect, test } from 'vitest';
import { posthorn } from './posthorn.ts';

/** What keys and tokens look like, each 24 characters or more. */
const secrets: Readonly<Record<string, string>> = {
  'hex of 64': '5f8d0c1b2a3947e6958473625140fedcba98765432100123456789abcdef5a6b',
  'hex of 24': 'deadbeefdeadbeefdeadbeef',
  base64: 'h/3Kd+9sQ2mZx7Lw/4VbN1cYtR5uEoPa8JgHfDiSkM0=',
  base64url: 'h_3Kd-9sQ2mZx7Lw_4VbN1cYtR5uEoPa8JgHfDiSkM0',
};

/** Places of the command line that a key can get into by mistake. */
const places: Readonly<Record<string, (secret: string) => readonly string[]>> = {
  'a command': (secret) => [secret],
  'a command of a group': (secret) => ['webhooks', secret],
  'a command that help is asked for': (secret) => ['help', secret],
  'an argument too many': (secret) => ['webhooks', 'list', secret],
  'an option': (secret) => ['listen', `--${secret}`],
  'a short option': (secret) => ['listen', `-k${secret}`],
  'the value of a misspelt option': (secret) => ['listen', `--kee=${secret}`],
  'a number': (secret) => ['listen', '--port', secret],
  'a choice': (secret) => ['sandbox', '--clock', secret],
  'a duration': (secret) => ['advance', secret],
  'an age': (secret) => ['dead-letters', 'list', '--since', secret],
  'a pattern': (secret) => ['webhooks', 'create', 'https://example.com', '--event', secret],
  'a type to send': (secret) => ['send', secret, '--to', 'http://127.0.0.1:2', '--key', 'k'],
  'a type to trigger': (secret) => ['trigger', secret],
  'a directory': (secret) => ['dead-letters', 'list', '--dir', secret],
  'a module': (secret) => ['dead-letters', 'list', '--receiver', secret],
  'a schema': (secret) => ['postgres', 'sql', '--schema', `${secret}!`],
  'a file to verify': (secret) => ['verify', secret, '--signature', 'ab', '--key', 'k'],
  'a file of data': (secret) => [
    'send',
    'transfer.created',
    '--to',
    'http://127.0.0.1:2',
    '--key',
    'k',
    '--data',
    secret,
  ],
  'the id of a quote': (secret) => ['fx-quotes', 'retrieve', secret],
  'the address of a database': (secret) => ['postgres', 'migrate', '--url', secret],
};

describe.each(Object.entries(places))('a secret as %s', (_place, argumentsOf) => {
  test.each(Object.entries(secrets))('is exit code 2, and is not repeated: %s', async (_form, secret) => {
    const { code, stdout, stderr } = await posthorn(argumentsOf(secret));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toBe('');
    // Nor a part of it that would shorten the search for the rest.
    for (let start = 0; start + 12 <= secret.length; start += 1) {
      expect(stderr).not.toContain(secret.slice(start, start + 12));
    }
  });
});

test('a token of three parts is not repeated either', async () => {
  const token =
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbjEyMw';
  const { stderr } = await posthorn([token]);
  for (const part of token.split('.')) expect(stderr).not.toContain(part);
});

describe('a text that is not a secret is repeated:', () => {
  test.each<[readonly string[], string]>([
    [['wehooks'], "unknown command 'wehooks'\n(Did you mean webhooks?)"],
    [['dead-letters', 'reply'], "unknown command 'reply'\n(Did you mean replay?)"],
    [
      ['listen', '--signature-headre'],
      "unknown option '--signature-headre'\n(Did you mean --signature-header?)",
    ],
    [['listen', '--port', '70000'], "argument '70000' is invalid"],
    [['trigger', 'transfer.suceeded'], 'transfer.suceeded is not a type'],
    [
      ['dead-letters', 'list', '--dir', '/srv/app/deadletters/of/billing'],
      '"/srv/app/deadletters/of/billing" is not one',
    ],
    [
      ['dead-letters', 'list', '--dir', 'dead-letters-of-the-billing-team'],
      '"dead-letters-of-the-billing-team"',
    ],
  ])('%j', async (args, shown) => {
    expect(await posthorn(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(shown) });
  });
});
