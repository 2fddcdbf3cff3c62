import { createReceiver, type Key, type SigningKeys } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test, vi } from 'vitest';
import { receiverWithReports } from '../../support/receiver-with-reports.ts';
import { serve } from '../../support/served.ts';

const BARE = 'whsec_of_the_odd_keys';

async function mount(signingKey: SigningKeys) {
  const { receiver, reports } = receiverWithReports({ signingKey });
  return { url: await serve(receiver), reports };
}

/** The message of the report of a delivery that was signed with `key`, and refused. */
async function mismatchOf(signingKey: SigningKeys, key: Key): Promise<string> {
  const { url, reports } = await mount(signingKey);
  const response = await deliver(url, createEvent('dispute.won'), { key });
  expect(response.status).toBe(403);
  expect(await response.json()).toEqual({
    title: 'The signature does not match the body',
    status: 403,
    code: 'signature_mismatch',
  });
  expect(reports).toHaveLength(1);
  expect(reports[0]?.error).toMatchObject({ name: 'SignatureError', code: 'signature_mismatch' });
  const message = reports[0]?.error?.message ?? '';
  expect(message).not.toContain(BARE);
  return message;
}

const odd: readonly { name: string; key: string; has: string }[] = [
  { name: 'the line end of a file', key: `${BARE}\n`, has: 'white space around it' },
  { name: 'the line end of Windows', key: `${BARE}\r\n`, has: 'white space around it' },
  { name: 'a space before it', key: ` ${BARE}`, has: 'white space around it' },
  { name: 'a byte order mark', key: `\ufeff${BARE}`, has: 'white space around it' },
  { name: 'the quotes of an env file', key: `"${BARE}"`, has: 'quotes around it' },
  { name: 'single quotes', key: `'${BARE}'`, has: 'quotes around it' },
  { name: 'the quotes of a word processor', key: `“${BARE}”`, has: 'quotes around it' },
  { name: 'one quote that was left', key: `${BARE}"`, has: 'quotes around it' },
  { name: 'quotes and a line end', key: `"${BARE}"\n`, has: 'white space and quotes around it' },
];

describe.each(odd)('a key with $name', ({ key, has }) => {
  test('is named when a signature does not match, without the key', async () => {
    const advice = `; the signing key has ${has}: remove it, unless it belongs to the key`;
    for (const given of [key, Buffer.from(key), () => key]) {
      expect(await mismatchOf(given, BARE)).toMatch(new RegExp(`${advice}$`));
    }
  });

  test('is used as it is: it may be meant', async () => {
    const { url } = await mount(key);
    expect(await deliver(url, createEvent('dispute.won'), { key })).toMatchObject({ status: 200 });
  });
});

test('of several keys the odd ones are named by their index, as in keyIndex', async () => {
  const message = await mismatchOf([`${BARE} `, BARE, `'${BARE}'`], 'another');
  expect(message).toContain('; the signing key at index 0 has white space around it');
  expect(message).toContain('; the signing key at index 2 has quotes around it');
  expect(message).not.toContain('at index 1');
});

test('a key that is nothing but white space or quotes is named too', async () => {
  expect(await mismatchOf('""', BARE)).toContain('the signing key has quotes around it');
  expect(await mismatchOf(' \n', BARE)).toContain('the signing key has white space around it');
});

test.each([
  ['a plain key', 'another'],
  ['a key with quotes and spaces inside', `a "b" 'c' d`],
  ['bytes that are no text, whatever they end with', Buffer.from([0xff, 0xfe, 0x20, 0x0a])],
  ['bytes whose last one is a part of a letter', Buffer.from('voilà')],
])('%s is not called odd', async (_, key) => {
  // A key that no receiver of this file has: the message would say that another one has it.
  expect(await mismatchOf(key, 'whsec_of_a_stranger')).toMatch(/or the body was changed on its way$/);
});

test('without an observer the log has it', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    const receiver = createReceiver({ signingKey: `${BARE}\n` }).on('*', () => {});
    await deliver(await serve(receiver), createEvent('dispute.won'), { key: BARE });
    const lines = print.mock.calls.flat();
    expect(lines).toContainEqual(expect.stringContaining('the signing key has white space around it'));
    expect(lines.join('\n')).not.toContain(BARE);
  } finally {
    print.mockRestore();
  }
});
