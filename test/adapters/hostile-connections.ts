import { expect } from 'vitest';
import { attack } from './attack.ts';
import { BASIC, expectAccepted, expectProblem, Gate, type Mount, signed, transfer } from './endpoint.ts';

export function hostileConnections(mount: Mount): void {
  expectations(mount);
  pipelines(mount);
  hangUps(mount);
  garbage(mount);
}

function expectations(mount: Mount): void {
  attack('Expect: 100-continue gets its go-ahead', mount, {}, async (target) => {
    const connection = await target.connect();
    const event = transfer();
    const { body, headers } = signed(event, BASIC);
    const length = String(Buffer.byteLength(body));
    connection.write(target.head({ ...headers, 'content-length': length, expect: '100-continue' }));
    expect((await connection.interim()).status).toBe(100);
    connection.write(body);
    expectAccepted(await connection.answer(), 'processed', event.id);
    await target.expectServed(connection);
  });

  attack('Expect: 100-continue before a refusal is answered without the body', mount, {}, async (target) => {
    const connection = await target.connect();
    const head = { authorization: 'Basic eA==', 'content-length': '5000000000', expect: '100-continue' };
    connection.write(target.head(head));
    const answer = await connection.answer();
    expectProblem(answer, 401, 'credentials_invalid');
    expect(answer.headers.get('connection')).toBe('close');
  });
}

function pipelines(mount: Mount): void {
  const gates = new Map(['a', 'b', 'c', 'd', 'e'].map((id) => [id, new Gate()]));
  attack(
    'pipelined deliveries are answered in their order, however their handlers end',
    mount,
    {},
    async (target) => {
      const connection = await target.connect();
      const requests = [...gates.keys()].map((id) => target.requestOf({ ...transfer(), id }));
      connection.write(requests.join(''));
      await target.endpoint.arrived(gates.size);
      for (const [index, id] of [...gates.keys()].reverse().entries()) {
        gates.get(id)?.open();
        await target.endpoint.report(index);
      }
      for (const id of gates.keys()) expectAccepted(await connection.answer(), 'processed', id);
      expect(target.endpoint.reports.map(({ event }) => event?.id)).toEqual([...gates.keys()].reverse());
    },
    (receiver) => receiver.on('transfer.*', (event) => gates.get(event.id)?.opened),
  );

  attack('a refused delivery in a pipeline takes its own body with it', mount, {}, async (target) => {
    const connection = await target.connect();
    const events = [transfer(), transfer(), transfer()];
    const [first = '', second = '', third = ''] = events.map((event) => target.requestOf(event));
    const wrong = second.replace(/authorization: .*\r\n/, 'authorization: Basic eA==\r\n');
    connection.write(first + wrong + third);
    expectAccepted(await connection.answer(), 'processed', events[0]?.id ?? '');
    expectProblem(await connection.answer(), 401, 'credentials_invalid');
    expectAccepted(await connection.answer(), 'processed', events[2]?.id ?? '');
    expect(target.endpoint.reports).toHaveLength(3);
  });
}

function hangUps(mount: Mount): void {
  for (const how of ['destroy', 'resetAndDestroy'] as const) {
    const gate = new Gate();
    const aborted: boolean[] = [];
    attack(
      `a sender that hangs up while the handler runs (${how}) aborts nothing`,
      mount,
      {},
      async (target) => {
        const connection = await target.connect();
        const event = transfer();
        connection.write(target.requestOf(event));
        await target.endpoint.arrived(1);
        connection.socket[how]();
        await expect.poll(target.endpoint.mounted.countConnections, { interval: 5 }).toBe(0);
        gate.open();
        expect(await target.endpoint.report()).toMatchObject({
          outcome: 'processed',
          event: { id: event.id },
          answerSent: false,
          late: false,
        });
        expect(aborted).toEqual([false]);
        const again = await target.connect();
        again.write(target.requestOf(event));
        expectAccepted(await again.answer(), 'duplicate', event.id);
        expect(target.endpoint.reports).toHaveLength(2);
      },
      (receiver) =>
        receiver.on('transfer.*', async (_, { signal }) => {
          await gate.opened;
          aborted.push(signal.aborted);
        }),
    );
  }

  const gate = new Gate();
  attack(
    'a sender that hangs up with a pipeline under way loses none of its events',
    mount,
    {},
    async (target) => {
      const connection = await target.connect();
      const events = [transfer(), transfer(), transfer()];
      connection.write(events.map((event) => target.requestOf(event)).join(''));
      await target.endpoint.arrived(3);
      await connection.hangUp();
      await expect.poll(target.endpoint.mounted.countConnections, { interval: 5 }).toBe(0);
      gate.open();
      await target.endpoint.report(2);
      expect(target.endpoint.reports.map(({ outcome, answerSent }) => [outcome, answerSent])).toEqual(
        events.map(() => ['processed', false]),
      );
    },
    (receiver) => receiver.on('transfer.*', () => gate.opened),
  );
}

function garbage(mount: Mount): void {
  const noise: Record<string, string | Uint8Array> = {
    'bytes of any kind': Uint8Array.from({ length: 4_096 }, (_, index) => (index * 181) % 256),
    'the hello of TLS': Buffer.from('16030100a5010000a10303', 'hex'),
    'HTTP/2 without asking': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a line that is no header': 'POST /webhooks HTTP/1.1\r\nhost: x\r\nno header\r\n\r\n',
    'headers beyond measure': `POST /webhooks HTTP/1.1\r\nhost: x\r\nx-filler: ${'x'.repeat(70_000)}\r\n\r\n`,
    'two framings of one body':
      'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'two lengths of one body':
      'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{"a":1',
    'a negative length': 'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
  };
  for (const [name, bytes] of Object.entries(noise)) {
    attack(name, mount, {}, async (target) => {
      const connection = await target.connect();
      connection.write(bytes);
      await connection.closed;
      expect(connection.rest).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(target.endpoint.reports).toEqual([]);
    });
  }

  attack('a chunk that is no chunk', mount, {}, async (target) => {
    const connection = await target.connect();
    connection.write(target.head({ 'transfer-encoding': 'chunked' })).write('5\r\n{"id"\r\n');
    await target.endpoint.arrived(1);
    connection.write('no length\r\n');
    await connection.closed;
    expect(await target.endpoint.report()).toMatchObject({ outcome: 'rejected', answerSent: false });
    expect(target.endpoint.reports).toHaveLength(1);
  });
}
