import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { deliverTo, expectRefused, type Requirements, type Subject } from './subject.ts';

/** Longer than any attempt takes, and than any clock is wrong. */
const FAR_MS = 30 * 86_400_000;

/** The requirements on signatures. */
export const signatures: Requirements = {
  'an altered body is refused, and nothing is claimed': async (subject) => {
    const { headers, rawBody } = subject.request();
    await expectRefused(subject.open(), { headers, rawBody: Buffer.concat([rawBody, Buffer.from(' ')]) });
  },
  'a request signed by another key is refused, and nothing is claimed': async (subject) => {
    await expectRefused(subject.open(), subject.request({ signedBy: subject.keys[1] }));
  },
  'a request signed by any of the keys is accepted': async (subject) => {
    for (const signedBy of subject.keys) {
      const endpoint = subject.open({ keys: subject.keys });
      const answer = await deliverTo(endpoint, subject.request({ signedBy }));
      assert.deepEqual(answer, { status: 200, says: 'processed' });
    }
  },
  'without the headers of the signature, or without one of them, nothing is handled': async (subject) => {
    const request = subject.request();
    await expectRefused(subject.open(), { ...request, headers: {} });
    for (const name of Object.keys(request.headers)) {
      const { [name]: _, ...headers } = request.headers;
      const endpoint = subject.open();
      const { status } = await deliverTo(endpoint, { ...request, headers });
      assert.ok(status >= 400 || endpoint.letters.size === 1, `it is answered ${status} without ${name}`);
      assert.equal(endpoint.handled.length, 0);
    }
  },
  'a header of the signature that is sent twice is refused': async (subject) => {
    const request = subject.request();
    const twice = Object.entries(request.headers).map(([name, value]) => [name, [value, value].flat()]);
    await expectRefused(subject.open(), { ...request, headers: Object.fromEntries(twice) });
  },
  'a request that was signed long ago is expired, if the time is signed; it is never parked': (subject) =>
    expectExpired(subject, -FAR_MS),
  'a request that was signed far ahead is expired, if the time is signed; it is never parked': (subject) =>
    expectExpired(subject, FAR_MS),
};

async function expectExpired(subject: Subject, offsetMs: number): Promise<void> {
  const signedAtMs = Date.now();
  // One body for both: an event that is created a millisecond later has another signature.
  const body = subject.body();
  const now = subject.signed(body, undefined, signedAtMs);
  const then = subject.signed(body, undefined, signedAtMs + offsetMs);
  // The time is not a part of the signature.
  if (isDeepStrictEqual(now.headers, then.headers)) return;
  await expectRefused(subject.open(), then, 'signature_expired');
}
