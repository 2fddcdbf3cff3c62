import { createReceiver } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTimers } from '../support/fake-time.ts';
import { post, serve } from '../support/served.ts';
import { schemes } from './schemes.ts';
import { signatureCases } from './signature-cases.ts';

describe.each(schemes)('a delivery of $name', (scheme) => {
  test.each(signatureCases)('$name', async ({ send, answer, differs }) => {
    const now = Math.floor(Date.now() / 1_000);
    fakeTimers({ toFake: ['Date'], now: now * 1_000 });
    const sent = send(scheme, now);
    if (sent === undefined) return;
    const { body, headers, signingKey = [scheme.keys[0]] } = sent;
    const seen: string[] = [];
    const receiver = createReceiver({ provider: scheme.provider, signingKey }).observe(() => {});
    receiver.on('*', ({ type }) => seen.push(type));
    const lines = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    );
    const { outcome, code } = JSON.parse(
      (await post(await serve(receiver), Buffer.from(body).toString(), lines)).body,
    );
    // Where the id is a header, the signature covers it.
    const expected =
      answer !== 'no id' ? answer : headers['webhook-timestamp'] ? 'signature_missing' : 'envelope_invalid';
    expect(outcome ?? code).toBe(expected);
    expect(seen).toEqual(expected === 'processed' ? ['transfer.created'] : []);

    if (scheme.accepts === undefined) return;
    const verdict = signingKey.some((key) => scheme.accepts?.(Buffer.from(body), headers, key));
    const isSame = verdict === (expected === 'processed');
    expect(isSame ? undefined : 'another verdict').toBe(differs?.[scheme.name] && 'another verdict');
  });
});
