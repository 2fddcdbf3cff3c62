import { AS_IT_IS, BYTES } from './advice.ts';
import { expectEqual } from './answer.ts';
import type { Check, Group } from './case.ts';
import { transfer } from './delivery.ts';
import { expectRejected } from './rejected.ts';

function refuseEncoding(encoding: string): Check {
  return (bench) =>
    expectRejected(bench, {
      status: 415,
      code: 'encoding_unsupported',
      send: (to) => to.send(transfer(), { 'content-encoding': encoding }),
    });
}

export const refusedBodies: Group = {
  name: '415 and 413',
  advice: AS_IT_IS,
  checks: {
    'content-encoding: gzip': refuseEncoding('gzip'),
    'content-encoding: br': refuseEncoding('br'),
    'content-encoding: deflate, identity': refuseEncoding('deflate, identity'),
    'content-encoding: x-unknown': refuseEncoding('x-unknown'),
    'a body over the limit': (bench) =>
      expectRejected(bench, {
        options: { maxBodyBytes: 50 },
        status: 413,
        code: 'body_too_large',
        send: (to) => to.send(transfer()),
      }),
  },
};

const { id, type, created_at, data } = transfer();
const whole = { id, type, created_at, data };
const text = JSON.stringify(whole);

function refuseBody(body: string | Uint8Array): Check {
  return (bench) =>
    expectRejected(bench, { status: 400, code: 'body_not_json', send: (to) => to.send(body) });
}

export const unreadableBodies: Group = {
  name: '400',
  advice: BYTES,
  checks: {
    'an empty body': refuseBody(''),
    'text that is not JSON': refuseBody('type=transfer.succeeded'),
    'JSON that is cut': refuseBody(text.slice(0, -1)),
    'two JSON texts': refuseBody(text + text),
    'a byte order mark': refuseBody(`\uFEFF${text}`),
    'bytes that are not UTF-8': refuseBody(Buffer.from(text.replace('SUCCEEDED', '\u00ff'), 'latin1')),
    'UTF-16': refuseBody(Buffer.from(text, 'utf16le')),
  },
};

function refuseEnvelope(value: unknown): Check {
  return (bench) =>
    expectRejected(bench, {
      status: 400,
      code: 'envelope_invalid',
      send: (to) => to.send(JSON.stringify(value)),
    });
}

const now = Date.parse('2026-03-01T12:00:00Z');
const clock = { now: () => now, maxEventAgeMs: 3_600_000 };

function refuseAge(code: 'event_too_old' | 'event_in_future', createdAt: string): Check {
  return async (bench) => {
    const send = { ...whole, created_at: createdAt };
    const { endpoint } = await expectRejected(bench, {
      options: clock,
      status: 400,
      code,
      send: (to) => to.send(send),
    });
    expectEqual(endpoint.reports[0]?.event, { id, type }, 'the event of the report');
  };
}

export const refusedEvents: Group = {
  name: '400',
  advice: AS_IT_IS,
  checks: {
    'an envelope with null': refuseEnvelope(null),
    'an envelope with a number': refuseEnvelope(1),
    'an envelope with a list': refuseEnvelope([whole]),
    'an envelope with no id': refuseEnvelope({ type, created_at, data }),
    'an envelope with an empty id': refuseEnvelope({ ...whole, id: '' }),
    'an envelope with a number as id': refuseEnvelope({ ...whole, id: 7 }),
    'an envelope with no type': refuseEnvelope({ id, created_at, data }),
    'an envelope with a type without an entity': refuseEnvelope({ ...whole, type: 'transfer' }),
    'an envelope with no created_at': refuseEnvelope({ id, type, data }),
    'an envelope with a created_at that is not a time': refuseEnvelope({ ...whole, created_at: 'yesterday' }),
    'an envelope with no data': refuseEnvelope({ id, type, created_at }),
    'an envelope with data that is not an object': refuseEnvelope({ ...whole, data: [] }),
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
