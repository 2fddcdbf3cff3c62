import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { createEvent } from '../create-event.ts';
import { AS_IT_IS } from './advice.ts';
import { expectAccepted, expectEqual, expectProblem } from './answer.ts';
import type { Group } from './case.ts';
import { BASIC, BEARER, KEY, signed, transfer } from './delivery.ts';
import { expectReport } from './endpoint.ts';
import { headOf } from './raw-connection.ts';
import { Gate } from './waits.ts';

export const acceptedAnswers: Group = {
  name: 'accepted',
  advice: AS_IT_IS,
  checks: {
    'an event whose handlers completed is processed': async (bench) => {
      const handled: { event: unknown; rawBody: Uint8Array }[] = [];
      const endpoint = await bench.open({
        register: (receiver) =>
          receiver.on('transfer.succeeded', (event, { rawBody }) => handled.push({ event, rawBody })),
      });
      // Spaces, escapes and a text beyond ASCII: the signature is over these bytes and no others.
      const body = `{ "data" : {"id":"TR\\u0031","amount":1250, "note":"Grüße 🎺"},\n"type":"transfer.succeeded","id":"evt/1 é",
      "created_at":"${new Date().toISOString()}", "more": [1.50] }`;
      const answer = await endpoint.send(body);
      expectAccepted(answer, 'processed', 'evt/1 é');
      expectEqual(
        handled.map(({ event }) => event),
        [JSON.parse(body)],
        'the events that were handled',
      );
      expectEqual(
        handled.map(({ rawBody }) => Buffer.from(rawBody).toString()),
        [body],
        'the raw body of the handler',
      );
      await expectReport(endpoint, {
        outcome: 'processed',
        status: 200,
        code: undefined,
        event: { id: 'evt/1 é', type: 'transfer.succeeded' },
        attempt: 1,
        final: false,
        keyIndex: 0,
        endpointAtRisk: false,
      });
    },

    'an event that was completed before is a duplicate': async (bench) => {
      const endpoint = await bench.open();
      const event = transfer();
      expectAccepted(await endpoint.send(event), 'processed', event.id);
      expectAccepted(await endpoint.send(event), 'duplicate', event.id);
      expectEqual(endpoint.handled, [event.id], 'the ids that were handled');
      expectEqual(
        endpoint.reports.map(({ outcome, event: of }) => [outcome, of?.id]),
        [
          ['processed', event.id],
          ['duplicate', event.id],
        ],
        'the reports',
      );
    },

    'a concurrent duplicate gets the outcome of the run that it joined': async (bench) => {
      const gate = new Gate();
      let runs = 0;
      const endpoint = await bench.open({
        register: (receiver) =>
          receiver.on('transfer.*', async () => {
            runs += 1;
            await gate.opened;
          }),
      });
      const event = transfer();
      const answers = [endpoint.send(event), endpoint.send(event)];
      await endpoint.arrived(2);
      gate.open();
      const bodies = (await Promise.all(answers)).map(({ status, body }) => `${status} ${body}`);
      const expected = ['duplicate', 'processed'].map(
        (outcome) => `200 ${JSON.stringify({ outcome, id: event.id })}`,
      );
      expectEqual(bodies.sort(), expected, 'the answers');
      expectEqual(runs, 1, 'the number of runs');
      expectEqual(endpoint.reports.length, 2, 'the number of reports');
    },

    'a type that no handler wants is ignored, and its id is not recorded': async (bench) => {
      const endpoint = await bench.open({ register: (receiver) => receiver.on('transfer.*', () => {}) });
      for (const event of [
        createEvent('dispute.won'),
        createEvent('invention.made.today', undefined, { any: true }),
      ]) {
        expectAccepted(await endpoint.send(event), 'ignored', event.id);
        expectAccepted(await endpoint.send({ ...event, type: 'transfer.failed' }), 'processed', event.id);
      }
      expectEqual(
        endpoint.reports.map(({ outcome }) => outcome),
        ['ignored', 'processed', 'ignored', 'processed'],
        'the outcomes',
      );
    },

    'credentials of each kind are let in, also while they are being changed': async (bench) => {
      const endpoint = await bench.open({ options: { authentication: [BASIC, BEARER] } });
      const basic = Buffer.from(`${BASIC.basic.username}:${BASIC.basic.password}`).toString('base64');
      const right = [`Basic ${basic}`, `bASIC  ${basic}`, `Bearer ${BEARER.bearer.token}`];
      for (const authorization of right) {
        const event = transfer();
        expectAccepted(await endpoint.send(event, { authorization }), 'processed', event.id);
      }
    },

    'any of the signing keys, a signature in upper case, and a header name in any case are accepted': async (
      bench,
    ) => {
      const endpoint = await bench.open({
        options: { signingKey: ['another-key', KEY], signatureHeader: 'Acme-Signature' },
      });
      const event = transfer();
      const { body, headers } = signed(event);
      const signature = (headers['x-service-signature'] ?? '').toUpperCase();
      const connection = await bench.connect(endpoint.url);
      const fields = { 'ACME-signature': signature, 'CONTENT-LENGTH': String(Buffer.byteLength(body)) };
      connection.write(headOf(endpoint.url, fields)).write(body);
      expectAccepted(await connection.answer(), 'processed', event.id);
      await expectReport(endpoint, { outcome: 'processed', keyIndex: 1 });
    },

    'a body is read whatever its content type says, and with content-encoding: identity': async (bench) => {
      const endpoint = await bench.open();
      const types = {
        'application/json': 'identity',
        'text/plain': '',
        'application/x-www-form-urlencoded': 'identity, identity',
        '': ', Identity,',
      };
      for (const [type, encoding] of Object.entries(types)) {
        const event = transfer();
        const answer = await endpoint.send(event, { 'content-type': type, 'content-encoding': encoding });
        expectAccepted(answer, 'processed', event.id);
      }
    },

    'a body of exactly maxBodyBytes is accepted, one byte more is not': async (bench) => {
      const event = transfer();
      const maxBodyBytes = JSON.stringify(event).length;
      const endpoint = await bench.open({ options: { maxBodyBytes } });
      expectAccepted(await endpoint.send(event), 'processed', event.id);
      expectProblem(await endpoint.send(`${JSON.stringify(event)} `), 413, 'body_too_large');
    },

    'a body of several megabytes arrives byte for byte': async (bench) => {
      const received: unknown[] = [];
      const endpoint = await bench.open({
        options: { maxBodyBytes: 8_000_000 },
        register: (receiver) => receiver.on('transfer.*', (event) => received.push(event.data.tags)),
      });
      const tags = { text: 'ü🎺'.repeat(500_000) };
      const event = createEvent('transfer.created', { tags });
      expectAccepted(await endpoint.send(event), 'processed', event.id);
      assert.ok(isDeepStrictEqual(received, [tags]), 'the handler must get the data that was sent');
    },
  },
};
