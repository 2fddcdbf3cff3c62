import { createReceiver, sign } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { post, serve } from '../../support/served.ts';

describe('the signature header', () => {
  const event = createEvent('transfer.succeeded');
  const sent = JSON.stringify(event);
  const right = sign(sent, 'k');
  const cases: readonly { name: string; headers: Record<string, string | string[]>; code: string }[] = [
    { name: 'missing', headers: {}, code: 'signature_missing' },
    { name: 'sent twice', headers: { 'x-service-signature': [right, right] }, code: 'signature_repeated' },
    { name: 'malformed', headers: { 'x-service-signature': 'zz' }, code: 'signature_malformed' },
    { name: 'empty', headers: { 'x-service-signature': '' }, code: 'signature_malformed' },
    {
      name: 'of another key',
      headers: { 'x-service-signature': sign(sent, 'other') },
      code: 'signature_mismatch',
    },
  ];

  test.each(cases)('$name: 403 $code, and no handler runs', async ({ headers, code }) => {
    const seen: unknown[] = [];
    const receiver = createReceiver({ signingKey: 'k' }).observe(() => {});
    receiver.on('*', (event) => seen.push(event));
    const answer = await post(await serve(receiver), sent, headers);
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ status: 403, code });
    expect(seen).toEqual([]);
  });

  test('another header that ends in -signature is named in the report, and not in the answer', async () => {
    const messages: (string | undefined)[] = [];
    const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});
    receiver.observe(({ error }) => messages.push(error?.message));
    const answer = await post(await serve(receiver), sent, { 'X-Vendor-Signature': right });
    expect(answer.status).toBe(403);
    expect(answer.body).not.toContain('vendor');
    expect(messages).toEqual([expect.stringContaining('x-vendor-signature')]);
  });

  /** The message of the report of a delivery with these headers, which is answered as any other. */
  async function refusalOf(headers: Record<string, string>, code: string): Promise<string> {
    const messages: (string | undefined)[] = [];
    const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});
    receiver.observe(({ error }) => messages.push(error?.message));
    const answer = await post(await serve(receiver), sent, headers);
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toEqual({
      title: code === 'signature_missing' ? 'The signature is missing' : 'The signature is malformed',
      status: 403,
      code,
    });
    expect(messages).toHaveLength(1);
    return messages[0] ?? '';
  }

  test('another header with 64 hex digits in a row is named in the report, and its value is not', async () => {
    const beside = {
      authorization: `Bearer ${right}`,
      cookie: `session=${right}`,
      'x-request-id': right.slice(1),
      'x-sha-512': right + right,
      'x-api-key': right,
      'x-session-token': right,
    };
    for (const value of [right, right.toUpperCase(), `sha256=${right}`, `t=1,v1=${right},v1=${right}`]) {
      const message = await refusalOf({ ...beside, 'X-Vendor-Digest': value }, 'signature_missing');
      expect(message).toBe(
        'the header "x-service-signature" is missing; "x-vendor-digest" was sent: ' +
          "if that is the service's, set signatureHeader to it",
      );
    }
    expect(await refusalOf(beside, 'signature_missing')).toBe('the header "x-service-signature" is missing');
  });

  test('hundreds of such headers, of long names, make a short report', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `x-${'long'.repeat(50)}-${index}-signature`);
    const values = Object.fromEntries(names.map((name) => [name, 'g']));
    const message = await refusalOf({ ...values, 'x-last': right }, 'signature_missing');
    expect(message.length).toBeLessThan(1_000);
    expect(message.match(/ was sent: /g)).toHaveLength(4);
  });

  const digest = Buffer.from(right, 'hex');
  const malformed: readonly { value: string; holds: string }[] = [
    { value: `sha256=${right}`, holds: 'the prefix "sha256=" before 64 hex digits' },
    { value: `V1:${right}`, holds: 'the prefix "V1:" before 64 hex digits' },
    {
      value: `sha256=${digest.toString('base64')}`,
      holds: 'the prefix "sha256=" before 44 characters of base64',
    },
    { value: 'v1=not-a-secret', holds: 'the prefix "v1=" before 12 characters' },
    { value: `${right},${'x'.repeat(10_000)}`, holds: '10065 characters' },
    { value: `secret=${right}`, holds: 'other characters around 64 hex digits' },
    { value: `t=1795,v1=${right}`, holds: 'other characters around 64 hex digits' },
    { value: digest.toString('base64'), holds: '44 characters of base64' },
    { value: digest.toString('base64url'), holds: '43 characters of base64' },
    { value: right.slice(0, 40), holds: '40 characters, all of them hex digits' },
    { value: right + right, holds: '128 characters, all of them hex digits' },
    { value: 'not-a-secret', holds: '12 characters' },
    { value: 'z', holds: '1 character' },
    { value: '', holds: '0 characters' },
  ];
  test.each(malformed)(
    '$holds in place of it: the report says so, without the text',
    async ({ value, holds }) => {
      expect(await refusalOf({ 'x-service-signature': value }, 'signature_malformed')).toBe(
        `the header "x-service-signature" must hold 64 hex digits only, and holds ${holds}`,
      );
    },
  );

  test('of another key: the report counts the keys', async () => {
    for (const { signingKey, problem } of [
      { signingKey: 'k', problem: 'does not match the signing key' },
      { signingKey: ['k', 'l'], problem: 'matches none of the 2 signing keys' },
    ]) {
      const receiver = createReceiver({ signingKey }).on('*', () => {});
      await expect(receiver.verify(sent, { 'x-service-signature': sign(sent, 'other') })).rejects.toThrow(
        `the signature ${problem}: the sender used another key`,
      );
    }
  });

  test('signatureHeader names it, in any case', async () => {
    const signatureHeader = 'X-Vendor-Signature';
    const receiver = createReceiver({ signingKey: 'k', signatureHeader }).on('*', () => {});
    receiver.observe(() => {});
    const url = await serve(receiver);
    expect(await deliver(url, event, { key: 'k', signatureHeader })).toMatchObject({ status: 200 });
    expect(await deliver(url, event, { key: 'k' })).toMatchObject({ status: 403 });
  });
});
