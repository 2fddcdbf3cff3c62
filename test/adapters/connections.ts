import assert from 'node:assert/strict';
import { show } from '../../src/receiver/values/foreign-values.ts';
import {
  expectAccepted,
  expectEqual,
  expectMembers,
  expectProblem,
} from '../../src/testing/adapter-conformance/answer.ts';
import type { Check, Group } from '../../src/testing/adapter-conformance/case.ts';
import { BASIC, signed, transfer } from '../../src/testing/adapter-conformance/delivery.ts';
import { untilGone } from '../../src/testing/adapter-conformance/hang-ups.ts';
import { attack } from '../../src/testing/adapter-conformance/target.ts';
import { Gate } from '../../src/testing/adapter-conformance/waits.ts';

const CONNECTION =
  'Each answer must be sent whole and once, whatever else happens on its connection, which stays usable.';

export const expectations: Group = {
  name: 'connections',
  advice: CONNECTION,
  checks: {
    'Expect: 100-continue gets its go-ahead': attack({}, async (target) => {
      const connection = await target.connect();
      const event = transfer();
      const { body, headers } = signed(event, BASIC);
      const length = String(Buffer.byteLength(body));
      connection.write(target.head({ ...headers, 'content-length': length, expect: '100-continue' }));
      expectEqual((await connection.interim()).status, 100, 'the interim answer');
      connection.write(body);
      expectAccepted(await connection.answer(), 'processed', event.id);
      await target.expectServed(connection);
    }),
    'Expect: 100-continue before a refusal is answered without the body': attack({}, async (target) => {
      const connection = await target.connect();
      const head = { authorization: 'Basic eA==', 'content-length': '5000000000', expect: '100-continue' };
      connection.write(target.head(head));
      const answer = await connection.answer();
      expectProblem(answer, 401, 'credentials_invalid');
      expectEqual(answer.headers.get('connection'), 'close', 'the header connection of 401');
    }),
  },
};

const pipelined: Check = (bench) => {
  const gates = new Map(['a', 'b', 'c', 'd', 'e'].map((id) => [id, new Gate()]));
  const check = attack(
    {},
    async (target) => {
      const connection = await target.connect();
      const requests = [...gates.keys()].map((id) => target.requestOf({ ...transfer(), id }));
      connection.write(requests.join(''));
      await target.endpoint.arrived(gates.size);
      const backwards = [...gates.keys()].reverse();
      for (const [index, id] of backwards.entries()) {
        gates.get(id)?.open();
        await target.endpoint.report(index);
      }
      for (const id of gates.keys()) expectAccepted(await connection.answer(), 'processed', id);
      const reported = target.endpoint.reports.map(({ event }) => event?.id);
      expectEqual(reported, backwards, 'the ids of the reports');
    },
    (receiver) => receiver.on('transfer.*', (event) => gates.get(event.id)?.opened),
  );
  return check(bench);
};

export const pipelines: Group = {
  name: 'connections',
  advice: CONNECTION,
  checks: {
    'pipelined deliveries are answered in their order, however their handlers end': pipelined,
    'a refused delivery in a pipeline takes its own body with it': attack({}, async (target) => {
      const connection = await target.connect();
      const events = [transfer(), transfer(), transfer()];
      const [first = '', second = '', third = ''] = events.map((event) => target.requestOf(event));
      const wrong = second.replace(/authorization: .*\r\n/, 'authorization: Basic eA==\r\n');
      connection.write(first + wrong + third);
      expectAccepted(await connection.answer(), 'processed', events[0]?.id ?? '');
      expectProblem(await connection.answer(), 401, 'credentials_invalid');
      expectAccepted(await connection.answer(), 'processed', events[2]?.id ?? '');
      expectEqual(target.endpoint.reports.length, 3, 'the number of reports');
    }),
  },
};

const hangUpWithPipeline: Check = (bench) => {
  const gate = new Gate();
  const check = attack(
    {},
    async (target) => {
      const { endpoint } = target;
      const connection = await target.connect();
      const events = [transfer(), transfer(), transfer()];
      connection.write(events.map((event) => target.requestOf(event)).join(''));
      await endpoint.arrived(3);
      await connection.hangUp();
      await untilGone(target);
      gate.open();
      await endpoint.report(2);
      for (const report of endpoint.reports) {
        expectMembers(report, { outcome: 'processed', answerSent: false }, 'a report');
      }
      expectEqual(endpoint.reports.length, events.length, 'the number of reports');
    },
    (receiver) => receiver.on('transfer.*', () => gate.opened),
  );
  return check(bench);
};

export const hangUpsInPipelines: Group = {
  name: 'connections',
  advice: CONNECTION,
  checks: {
    'a sender that hangs up with a pipeline under way loses none of its events': hangUpWithPipeline,
  },
};

function refuseGarbage(bytes: string | Uint8Array): Check {
  return attack({}, async (target) => {
    const connection = await target.connect();
    connection.write(bytes);
    await connection.closed;
    const { rest } = connection;
    assert.match(rest, /^HTTP\/1\.1 4\d\d /, `the answer must be 4xx, got ${show(rest)}`);
    expectEqual(target.endpoint.reports, [], 'the reports');
  });
}

const head = 'POST /webhooks HTTP/1.1\r\nhost: x\r\n';

export const garbage: Group = {
  name: 'connections',
  advice: CONNECTION,
  checks: {
    'bytes of any kind': refuseGarbage(Uint8Array.from({ length: 4_096 }, (_, index) => (index * 181) % 256)),
    'the hello of TLS': refuseGarbage(Buffer.from('16030100a5010000a10303', 'hex')),
    'HTTP/2 without asking': refuseGarbage('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    'a line that is not a header': refuseGarbage(`${head}no header\r\n\r\n`),
    'headers beyond measure': refuseGarbage(`${head}x-filler: ${'x'.repeat(70_000)}\r\n\r\n`),
    'two framings of one body': refuseGarbage(
      `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ),
    'two lengths of one body': refuseGarbage(`${head}content-length: 5\r\ncontent-length: 6\r\n\r\n{"a":1`),
    'a negative length': refuseGarbage(`${head}content-length: -1\r\n\r\n`),
    'a chunk that is not a chunk': attack({}, async (target) => {
      const connection = await target.connect();
      connection.write(target.head({ 'transfer-encoding': 'chunked' })).write('5\r\n{"id"\r\n');
      await target.endpoint.arrived(1);
      connection.write('no length\r\n');
      await connection.closed;
      const report = await target.endpoint.report();
      expectMembers(report, { outcome: 'rejected', answerSent: false }, 'the report of the delivery');
      expectEqual(target.endpoint.reports.length, 1, 'the number of reports');
    }),
  },
};
