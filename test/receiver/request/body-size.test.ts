import { createReceiver, defineProvider, type Report } from 'posthorn';
import { expect, test } from 'vitest';
import { serve } from '../../support/served.ts';

const provider = defineProvider({
  name: 'acme',
  signature: { verify: () => true },
  readEvent: () => ({ id: '1', type: 'a.b', event: { type: 'a.b' } }),
  answerWithinMs: 10_000,
  retries: 'none',
  maxBodyBytes: 100,
});
const loss = '; acme sends bodies up to 100 bytes: raise maxBodyBytes, or such events are lost';

test.each([
  { bytes: 51, maxBodyBytes: 50, says: loss },
  { bytes: 100, maxBodyBytes: 50, says: loss },
  { bytes: 101, maxBodyBytes: 50, says: '' },
  { bytes: 101, maxBodyBytes: undefined, says: '' },
])('a body of $bytes bytes over the limit $maxBodyBytes is refused with "$says"', async (sent) => {
  const { bytes, maxBodyBytes, says } = sent;
  const reports: Report[] = [];
  const receiver = createReceiver({ provider, signingKey: 'key', maxBodyBytes });
  receiver.on('*', () => {}).observe((report) => reports.push(report));
  const body = 'x'.repeat(bytes);
  const { status } = await fetch(await serve(receiver), { method: 'POST', body });
  await receiver.receive({ method: 'POST', headers: {}, readBody: () => body });
  expect(status).toBe(413);
  const message = `the body has ${bytes} bytes; maxBodyBytes is ${maxBodyBytes ?? 100}${says}`;
  const refusal = { code: 'body_too_large', error: { message } };
  expect(reports).toMatchObject([refusal, refusal]);
});

test('a body without a declared length that is cut off at the limit is lost as well', async () => {
  const reports: Report[] = [];
  const receiver = createReceiver({ provider, signingKey: 'key', maxBodyBytes: 50 }).on('*', () => {});
  receiver.observe((report) => reports.push(report));
  const body = new Blob(['x'.repeat(60)]).stream();
  await fetch(await serve(receiver), { method: 'POST', body, duplex: 'half' });
  const message = `the body is longer than allowed; maxBodyBytes is 50${loss}`;
  expect(reports).toMatchObject([{ code: 'body_too_large', error: { message } }]);
});
