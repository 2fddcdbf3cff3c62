import { AS_IT_IS, BYTES } from './advice.ts';
import { expectEqual } from './answer.ts';
import { type Check, checksOf, type Group } from './case.ts';
import { transfer } from './delivery.ts';
import { rejects } from './rejected.ts';

export const refusedBodies: Group = {
  name: '415 and 413',
  advice: AS_IT_IS,
  checks: {
    ...Object.fromEntries(
      ['gzip', 'br', 'deflate, identity', 'identityidentity'].map((encoding) => [
        `content-encoding: ${encoding}`,
        rejects({ status: 415, code: 'encoding_unsupported', headers: { 'content-encoding': encoding } }),
      ]),
    ),
    'a body over the limit': rejects({ options: { maxBodyBytes: 50 }, status: 413, code: 'body_too_large' }),
  },
};

const { id, type, created_at, data } = transfer();
const whole = { id, type, created_at, data };
const text = JSON.stringify(whole);

const unreadable: Readonly<Record<string, string | Uint8Array>> = {
  'an empty body': '',
  'text that is not JSON': 'type=transfer.succeeded',
  'JSON that is cut': text.slice(0, -1),
  'two JSON texts': text + text,
  'a byte order mark': `\uFEFF${text}`,
  'bytes that are not UTF-8': Buffer.from(text.replace('SUCCEEDED', '\u00ff'), 'latin1'),
  'UTF-16': Buffer.from(text, 'utf16le'),
};

export const unreadableBodies: Group = {
  name: '400',
  advice: BYTES,
  checks: checksOf(unreadable, (body) => rejects({ status: 400, code: 'body_not_json', body })),
};

const envelopes: Readonly<Record<string, unknown>> = {
  'an envelope with null': null,
  'an envelope with a number': 1,
  'an envelope with a list': [whole],
  'an envelope with no id': { type, created_at, data },
  'an envelope with an empty id': { ...whole, id: '' },
  'an envelope with a number as id': { ...whole, id: 7 },
  'an envelope with no type': { id, created_at, data },
  'an envelope with a type without an entity': { ...whole, type: 'transfer' },
  'an envelope with no created_at': { id, type, data },
  'an envelope with a created_at that is not a time': { ...whole, created_at: 'yesterday' },
  'an envelope with no data': { id, type, created_at },
  'an envelope with data that is not an object': { ...whole, data: [] },
};

const now = Date.parse('2026-03-01T12:00:00Z');
const clock = { now: () => now, maxEventAgeMs: 3_600_000 };

function refuseAge(code: 'event_too_old' | 'event_in_future', createdAt: string): Check {
  return rejects({
    options: clock,
    status: 400,
    code,
    body: { ...whole, created_at: createdAt },
    verify: (_, { event }) => expectEqual(event, { id, type }, 'the event of the report'),
  });
}

export const refusedEvents: Group = {
  name: '400',
  advice: AS_IT_IS,
  checks: {
    ...checksOf(envelopes, (value) =>
      rejects({ status: 400, code: 'envelope_invalid', body: JSON.stringify(value) }),
    ),
    'an event older than maxEventAgeMs': refuseAge('event_too_old', '2026-03-01T10:59:59.999Z'),
    'an event over 5 minutes in the future': refuseAge('event_in_future', '2026-03-01T12:05:00.001Z'),
    'ages at the limits are accepted': async (bench) => {
      const endpoint = await bench.open({ options: clock });
      for (const created of ['2026-03-01T11:00:00Z', '2026-03-01T12:05:00Z']) {
        const { status } = await endpoint.send({ ...transfer(), created_at: created });
        expectEqual(status, 200, `the status of an event of ${created}`);
      }
    },
  },
};
