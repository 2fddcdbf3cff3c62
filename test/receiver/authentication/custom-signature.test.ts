import { generateKeyPairSync, sign, verify } from 'node:crypto';
import {
  type CustomSignature,
  createReceiver,
  type DeadLetter,
  type ReceiverOptions,
  type Report,
  SignatureError,
  type TypedEvent,
} from 'posthorn';
import { describe, expect, test, vi } from 'vitest';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { serve } from '../../support/served.ts';
import { type AcmeEvent, acme, acmeEvent, toDelivery } from '../provider/senders.ts';

const own = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');

const pemOf = ({ publicKey }: typeof own): string =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString();

/** The signature of a sender with a public key, in base64. */
const byPublicKey: CustomSignature['verify'] = ({ rawBody, headers, key }) =>
  verify(null, rawBody, Buffer.from(key).toString(), Buffer.from(headers.get('x-ed25519') ?? '', 'base64'));

const signed = (body: string, { privateKey } = own): Record<string, string> => ({
  'x-ed25519': sign(null, Buffer.from(body), privateKey).toString('base64'),
});

type Options = Partial<ReceiverOptions<Record<never, never>, AcmeEvent>>;

function create(verifySignature: CustomSignature['verify'] = byPublicKey, options: Options = {}) {
  const reports: Report[] = [];
  const letters = new Map<string, DeadLetter>();
  const handle = vi.fn((_event: TypedEvent) => {});
  const receiver = createReceiver({
    provider: acme({ signature: { verify: verifySignature } }),
    signingKey: pemOf(own),
    deadLetters: createMapDeadLetters(letters),
    ...options,
  });
  receiver.observe((report) => reports.push(report));
  receiver.on('*', handle);
  return { receiver, reports, letters, handle };
}

const body = JSON.stringify(acmeEvent());

describe('a public key', () => {
  async function send(sent: string, headers: Record<string, string>, options?: Options) {
    const { receiver, reports } = create(byPublicKey, options);
    const { status } = await fetch(await serve(receiver), { method: 'POST', body: sent, headers });
    return [status, reports[0]?.code, reports[0]?.keyIndex];
  }

  test('accepts what its private key signed', async () => {
    expect(await send(body, signed(body))).toEqual([200, undefined, 0]);
  });

  test('may be bytes, and one of several', async () => {
    const keys = [pemOf(other), Buffer.from(pemOf(own))];
    expect(await send(body, signed(body), { signingKey: keys })).toEqual([200, undefined, 1]);
    expect(await send(body, signed(body), { signingKey: async () => keys })).toEqual([200, undefined, 1]);
  });

  test.each<[string, string, Record<string, string>]>([
    ['another body', `${body} `, signed(body)],
    ['another key', body, signed(body, other)],
    ['no signature', body, {}],
    ['an empty signature', body, { 'x-ed25519': '' }],
    ['a cut signature', body, { 'x-ed25519': signed(body)['x-ed25519']?.slice(0, 40) ?? '' }],
  ])('refuses %s', async (_name, sent, headers) => {
    expect(await send(sent, headers)).toEqual([403, 'signature_mismatch', undefined]);
  });

  test('is needed', () => {
    expect(() => create(byPublicKey, { signingKey: '' })).toThrow(/^signingKey must be a non-empty string/);
    expect(() => create(byPublicKey, { signingKey: [] })).toThrow(/^signingKey must hold at least one key/);
  });

  test('is enough for receiver.verify', async () => {
    const { receiver } = create();
    expect(await receiver.verify(Buffer.from(body), signed(body))).toEqual(JSON.parse(body));
    await expect(receiver.verify(Buffer.from(body), signed(body, other))).rejects.toMatchObject({
      code: 'signature_mismatch',
      status: 403,
    });
  });
});

describe('a function that verifies', () => {
  const answers: readonly [string, CustomSignature['verify'], number, string | undefined][] = [
    ['true', () => true, 200, undefined],
    ['a promise of true', async () => true, 200, undefined],
    ['false', () => false, 403, 'signature_mismatch'],
    ['a promise of false', async () => false, 403, 'signature_mismatch'],
    // A function in JavaScript may return anything: only true is a signature.
    ['an object', Object(() => ({})), 403, 'signature_mismatch'],
    ['1', Object(() => 1), 403, 'signature_mismatch'],
    ['undefined', Object(() => undefined), 403, 'signature_mismatch'],
    ['an error', () => fail(), 503, 'keys_unavailable'],
    ['a promise that rejects', async () => fail(), 503, 'keys_unavailable'],
    ['a SignatureError', () => malformed(), 403, 'signature_malformed'],
    ['a thrown value that cannot be read', () => throwRevoked(), 503, 'keys_unavailable'],
  ];

  function fail(): never {
    throw new Error('no network');
  }

  function malformed(): never {
    throw new SignatureError('signature_malformed', 'the signature has no version');
  }

  function throwRevoked(): never {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    throw proxy;
  }

  test.each(answers)('that gives %s', async (_name, answer, status, code) => {
    const { receiver, reports, letters, handle } = create(answer);
    expect((await receiver.receive(toDelivery(body, {}))).status).toBe(status);
    expect(reports).toMatchObject([{ status, code, event: code === undefined ? {} : undefined }]);
    expect(handle).toHaveBeenCalledTimes(status === 200 ? 1 : 0);
    expect(letters.size).toBe(0);
  });

  test('names its error, and does not give it to the sender', async () => {
    const { receiver, reports } = create(() => fail());
    expect((await receiver.receive(toDelivery(body, {}))).body).not.toContain('network');
    expect(reports[0]?.error).toMatchObject({
      message: 'verify of the provider failed: no network',
      cause: { message: 'no network' },
    });
  });

  test.each(['resolve', 'reject'] as const)('that is late is not awaited, and may %s later', async (end) => {
    const pass = fakeTime();
    let settle = (): void => {};
    const pending = new Promise<boolean>((resolve, reject) => {
      settle = () => (end === 'resolve' ? resolve(true) : reject(new Error('late')));
    });
    const { receiver, reports, letters, handle } = create(() => pending, { deadlineMs: 8_000 });
    const startedAt = performance.now();
    const { status } = await passUntil(pass, receiver.receive(toDelivery(body, {})));
    expect(status).toBe(503);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect(reports).toMatchObject([{ code: 'keys_unavailable' }]);
    expect(reports[0]?.error?.message).toBe('verify of the provider did not answer in time');
    settle();
    await pass(1_000);
    expect(handle).not.toHaveBeenCalled();
    expect(reports).toHaveLength(1);
    expect(letters.size).toBe(0);
  });

  test('that is late fails receiver.verify at the deadline', async () => {
    const pass = fakeTime();
    const { receiver } = create(() => new Promise(() => {}), { deadlineMs: 2_000 });
    const verified = receiver.verify(Buffer.from(body), {});
    await expect(passUntil(pass, verified)).rejects.toMatchObject({ code: 'keys_unavailable', status: 503 });
  });

  test('is not believed about a header of which it saw the beginning only', async () => {
    const { receiver } = create(({ headers }) => headers.get('x-long')?.startsWith('x') ?? false);
    const statusWith = async (length: number) =>
      (await receiver.receive(toDelivery(body, { 'x-long': 'x'.repeat(length) }))).status;
    expect(await statusWith(4_096)).toBe(200);
    expect(await statusWith(4_097)).toBe(403);
  });

  test('gets the body as it was sent, the headers without case, and each key until one matches', async () => {
    const asked: unknown[] = [];
    const { receiver } = create(
      ({ rawBody, headers, key }) => {
        asked.push([Buffer.from(rawBody).toString(), headers.get('X-Signature'), key]);
        return key === 'second';
      },
      { signingKey: ['first', 'second', 'third'] },
    );
    await receiver.receive(toDelivery(body, { 'x-signature': 'abc' }));
    expect(asked).toEqual([
      [body, 'abc', 'first'],
      [body, 'abc', 'second'],
    ]);
  });
});
