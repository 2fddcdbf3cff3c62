import { expect } from 'vitest';
import { attack, chunk } from './attack.ts';
import { BASIC, expectAccepted, expectProblem, type Mount, signed, transfer } from './endpoint.ts';
import type { RawConnection } from './raw-connection.ts';

const framings: Record<string, { headers: Record<string, string>; part: string }> = {
  'a body of declared length': { headers: { 'content-length': '500' }, part: '{"id":' },
  'a chunked body': { headers: { 'transfer-encoding': 'chunked' }, part: chunk('{"id":') },
};

export function hostileBodies(mount: Mount): void {
  slowBodies(mount);
  cutBodies(mount);
  bodiesOfAnyLength(mount);
  crowdedBodies(mount);
}

function slowBodies(mount: Mount): void {
  attack('bodies that stop, drip, or never begin', mount, { bodyTimeoutMs: 100 }, async (target) => {
    const slow = Object.values(framings).flatMap(({ headers, part }) => [
      target.head(headers) + part,
      target.head(headers),
    ]);
    const stopping = slow.map(async (bytes) => {
      const connection = await target.connect();
      await expectTimedOut(connection.write(bytes));
    });
    const dripping = await target.connect();
    dripping.write(target.head({ 'content-length': '100000' }));
    const drip = setInterval(() => dripping.write('{'), 5);
    await Promise.all([...stopping, expectTimedOut(dripping)]);
    clearInterval(drip);
    const expected = { outcome: 'rejected', status: 408, code: 'body_timeout', answerSent: true };
    expect(target.endpoint.reports).toMatchObject(Array(slow.length + 1).fill(expected));
  });

  attack('a body that has not arrived at the deadline', mount, { deadlineMs: 100 }, async (target) => {
    const connection = await target.connect();
    connection.write(target.head({ 'content-length': '500' }));
    expectProblem(await connection.answer(), 408, 'body_timeout');
  });
}

/** Sees a delivery answered 408, whole, and its connection closed. */
async function expectTimedOut(connection: RawConnection): Promise<void> {
  const answer = await connection.answer();
  expectProblem(answer, 408, 'body_timeout');
  expect(answer.headers.get('connection')).toBe('close');
  await connection.closed;
  expect(connection.rest).toBe('');
}

function cutBodies(mount: Mount): void {
  const cuts: Record<string, (connection: RawConnection) => unknown> = {
    'reset by the sender': ({ socket }) => socket.resetAndDestroy(),
    'closed by the sender': ({ socket }) => socket.destroy(),
    'ended by the sender, who goes on listening': ({ socket }) => socket.end(),
  };
  for (const [framing, { headers, part }] of Object.entries(framings)) {
    for (const [name, cut] of Object.entries(cuts)) {
      attack(`${framing}, ${name}`, mount, {}, async (target) => {
        const connection = await target.connect();
        connection.write(target.head(headers) + part);
        await target.endpoint.arrived(1);
        cut(connection);
        await connection.closed;
        expect(await target.endpoint.report()).toMatchObject({
          outcome: 'rejected',
          status: 400,
          code: 'body_incomplete',
          answerSent: false,
        });
        expect(target.endpoint.reports).toHaveLength(1);
      });
    }
  }
}

function bodiesOfAnyLength(mount: Mount): void {
  const maxBodyBytes = 1_000;

  attack(
    'a body over the limit, by its declared length and by its chunks',
    mount,
    { maxBodyBytes },
    async (to) => {
      const bytes = [
        // Not a byte of this body is sent.
        to.head({ 'content-length': '1001' }),
        to.head({ 'transfer-encoding': 'chunked' }) + chunk('x'.repeat(900)) + chunk('x'.repeat(101)),
      ];
      await Promise.all(
        bytes.map(async (sent) => {
          const connection = await to.connect();
          const answer = await connection.write(sent).answer();
          expectProblem(answer, 413, 'body_too_large');
          expect(answer.headers.get('connection')).toBe('close');
          await connection.closed;
        }),
      );
      const expected = { outcome: 'rejected', status: 413, code: 'body_too_large', answerSent: true };
      expect(to.endpoint.reports).toMatchObject([expected, expected]);
    },
  );

  attack(
    'a chunked body without a length, in chunks of one byte',
    mount,
    { maxBodyBytes },
    async (target) => {
      const connection = await target.connect();
      const event = transfer();
      const { body, headers } = signed(event, BASIC);
      connection.write(target.head({ ...headers, 'transfer-encoding': 'chunked' }));
      for (const character of body) connection.write(chunk(character));
      connection.write('0\r\n\r\n');
      const answer = await connection.answer();
      expectAccepted(answer, 'processed', event.id);
      expect(answer.headers.get('connection')).not.toBe('close');
      await target.expectServed(connection);
      expect(target.endpoint.reports).toHaveLength(2);
    },
  );
}

function crowdedBodies(mount: Mount): void {
  const limits = { maxBodyBytes: 16_384, maxBufferedBytes: 56_000 };

  attack('64 bodies that never begin, whatever length they declare', mount, limits, async (target) => {
    const framing: Record<string, string>[] = [
      { 'content-length': '16384' },
      { 'transfer-encoding': 'chunked' },
    ];
    for (const headers of Array.from({ length: 32 }, () => framing).flat()) {
      (await target.connect()).write(target.head(headers));
    }
    await target.endpoint.arrived(64);
    await target.expectServed(await target.connect());
    expect(target.endpoint.reports).toMatchObject([{ outcome: 'processed' }]);
  });

  attack('more unfinished bodies than there is memory for', mount, limits, async (target) => {
    const honest = await target.connect();
    const begin = async (): Promise<RawConnection> => {
      const connection = await target.connect();
      connection.write(target.head({ 'content-length': '16384' }) + 'x'.repeat(10_000));
      // By the time that a later delivery is answered, these bytes have been read.
      await target.expectServed(honest);
      return connection;
    };
    const goingOn = await begin();
    const stopped = await begin();
    const others = [await begin(), await begin()];
    // The buffer of this body doubles.
    goingOn.write('x');
    await target.expectServed(honest);
    expect(target.endpoint.reports).toMatchObject(Array(5).fill({ outcome: 'processed' }));

    others.push(await begin());
    expectProblem(await stopped.answer(), 503, 'buffer_full');
    expect(target.endpoint.reports).toHaveLength(7);
    expect([goingOn, ...others].map(({ rest }) => rest)).toEqual(['', '', '', '']);
  });
}
