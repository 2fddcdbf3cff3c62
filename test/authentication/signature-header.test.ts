import { createReceiver, sign } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { post, serve } from '../support/served.ts';

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

  test('signatureHeader names it, in any case', async () => {
    const signatureHeader = 'X-Vendor-Signature';
    const receiver = createReceiver({ signingKey: 'k', signatureHeader }).on('*', () => {});
    receiver.observe(() => {});
    const url = await serve(receiver);
    expect(await deliver(url, event, { key: 'k', signatureHeader })).toMatchObject({ status: 200 });
    expect(await deliver(url, event, { key: 'k' })).toMatchObject({ status: 403 });
  });
});
