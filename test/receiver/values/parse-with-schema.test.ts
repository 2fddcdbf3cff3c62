import { createReceiver } from 'posthorn';
import { signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { readJob } from '../../../src/receiver/queue/queued-job.ts';
import { messageOf } from '../../../src/receiver/values/foreign-values.ts';
import { parseLetter } from '../../../src/stores/kit/serialized-letter.ts';
import { envelope } from '../../support/envelopes.ts';
import { KEY } from '../../support/served.ts';

/** The message of what a function throws, without the words before the first member. */
async function complaint(read: () => unknown): Promise<string> {
  try {
    await read();
  } catch (error) {
    return messageOf(error).replace(/^(the|this) [^:]*: /, '');
  }
  return 'none';
}

describe('an event that is refused names', () => {
  const receiver = createReceiver({ signingKey: KEY });
  const noText = 'Invalid input: expected string, received';
  test.each([
    ['null', 'body: Invalid input: expected object, received null'],
    ['5', 'body: Invalid input: expected object, received number'],
    ['[]', 'body: Invalid input: expected object, received array'],
    [
      '{}',
      `id: ${noText} undefined; type: ${noText} undefined; created_at: ${noText} undefined; data: must be an object`,
    ],
    [envelope({ id: 5 }), `id: ${noText} number`],
    [envelope({ id: ['evt_1'] }), `id: ${noText} array`],
    [envelope({ id: '' }), 'id: must not be empty'],
    [envelope({}).replace('evt_1', 'evt_\\ud800'), 'id: must be well-formed Unicode'],
    [envelope({ type: null }), `type: ${noText} null`],
    [envelope({ type: 'transfer' }), 'type: must be <entity>.<type>'],
    [envelope({ created_at: {} }), `created_at: ${noText} object`],
    [
      envelope({ created_at: '2026-02-30' }),
      'created_at: must be a time in ISO 8601, as 2026-03-31T09:05:00Z',
    ],
    [envelope({ data: [] }), 'data: must be an object'],
  ])('what is wrong: %s', async (body, message) => {
    const verify = () => receiver.verify(body, signedHeaders(body, { key: KEY }));
    expect(await complaint(verify)).toBe(message);
  });
});

describe('a job that is refused names', () => {
  const job = { rawBody: 'e30=', headers: { a: ['b'] }, receivedAt: 1, handled: [] };
  test.each([
    [undefined, 'job: Invalid input: expected object, received undefined'],
    [{ ...job, version: 2 }, 'version: is newer than 1, the newest that this worker reads'],
    [{ ...job, version: '1' }, 'version: Invalid input: expected number, received string'],
    [{ ...job, rawBody: '*' }, 'rawBody: must be bytes or base64'],
    [{ ...job, rawBody: 5 }, 'rawBody: must be bytes or base64'],
    [{ ...job, headers: [] }, 'headers: Invalid input: expected record, received array'],
    [{ ...job, headers: { a: [1] } }, 'headers.a.0: Invalid input: expected string, received number'],
    [{ ...job, receivedAt: Number.NaN }, 'receivedAt: Invalid input: expected number, received NaN'],
    [{ ...job, handled: [null] }, 'handled.0: Invalid input: expected string, received null'],
    [{ ...job, handlers: 'book' }, 'handlers: Invalid input: expected array, received string'],
    [{ ...job, isParked: 'yes' }, 'isParked: Invalid input: expected boolean, received string'],
  ])('what is wrong: %j', async (value, message) => {
    expect(await complaint(() => readJob(value))).toBe(message);
  });

  test.each([[5], [{ traceparent: 1 }], [undefined]])('and a trace context of %j refuses none', (context) => {
    expect(readJob({ ...job, traceContext: context })).toMatchObject({
      handlers: [],
      isParked: false,
      traceContext: {},
    });
  });
});

test.each([
  ['null', 'letter: Invalid input: expected object, received null'],
  ['{"headers":{"a":"b"}}', 'headers.a: Invalid input: expected array, received string'],
  ['{"runningUntil":"soon"}', 'runningUntil: Invalid input: expected number, received string'],
  ['{"rawBody":"*"}', 'rawBody: must be base64'],
])('a letter that is refused names what is wrong: %s', async (text, message) => {
  const letter = '"id":"e","reason":"r","message":"m","receivedAt":1,"parkedAt":2,"attempts":1,"handled":[]';
  const rest = '"headers":{},"rawBody":"",';
  const whole = text === 'null' ? text : text.replace('{', `{${letter},${rest}`);
  expect(await complaint(() => parseLetter(whole))).toBe(message);
});
