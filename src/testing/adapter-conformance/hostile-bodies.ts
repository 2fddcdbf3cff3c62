import { BODY_LIMIT, BODY_MEMORY, CUT_BODY, SLOW_BODY } from './advice.ts';
import { expectAccepted, expectEqual, expectMembers, expectProblem } from './answer.ts';
import type { Check, Group } from './case.ts';
import { BASIC, signed, transfer } from './delivery.ts';
import { expectReports } from './endpoint.ts';
import { chunk, type RawConnection } from './raw-connection.ts';
import { restIsDropped } from './rest-is-dropped.ts';
import { attack, type Target } from './target.ts';

/** The two ways to frame a body, and a part of the body. */
const framings: Readonly<
  Record<string, { headers: Record<string, string>; frame: (part: string) => string }>
> = {
  'a body of declared length': { headers: { 'content-length': '500' }, frame: (part) => part },
  'a chunked body': { headers: { 'transfer-encoding': 'chunked' }, frame: chunk },
};

/** Expects that a delivery is refused by a whole answer, and that its connection is closed then. */
async function expectRefusedAndClosed(
  target: Target,
  connection: RawConnection,
  [status, code]: readonly [status: number, code: string],
): Promise<void> {
  const answer = await connection.answer();
  expectProblem(answer, status, code);
  if (target.hidesConnections) return;
  expectEqual(answer.headers.get('connection'), 'close', `the header connection of ${status}`);
  await connection.closed;
  expectEqual(connection.rest, '', 'what follows the answer');
}

export const slowBodies: Group = {
  name: 'slow bodies',
  advice: SLOW_BODY,
  checks: {
    'bodies that stop, drip, or never begin': attack({ bodyTimeoutMs: 100 }, async (target) => {
      const slow = Object.values(framings).flatMap(({ headers, frame }) => [
        target.head(headers) + frame('{"id":'),
        target.head(headers),
      ]);
      const dripping = await target.connect();
      const stopping = slow.map(async (bytes) => {
        const connection = await target.connect();
        await expectRefusedAndClosed(target, connection.write(bytes), [408, 'body_timeout']);
      });
      dripping.write(target.head({ 'content-length': '100000' }));
      void dripping.drip();
      await Promise.all([...stopping, expectRefusedAndClosed(target, dripping, [408, 'body_timeout'])]);
      await dripping.hangUp();
      const expected = { outcome: 'rejected', status: 408, code: 'body_timeout', answerSent: true } as const;
      expectReports(target.endpoint, Array(slow.length + 1).fill(expected));
    }),
    'what comes of a body after it was given up is not held': restIsDropped(
      { bodyTimeoutMs: 100 },
      [408, 'body_timeout'],
      ['{"id":', 'x'.repeat(500)],
    ),
    'a body that has not arrived at the deadline': attack({ deadlineMs: 100 }, async (target) => {
      const connection = await target.connect();
      connection.write(target.head({ 'content-length': '500' }));
      expectProblem(await connection.answer(), 408, 'body_timeout');
    }),
  },
};

const cuts: Readonly<Record<string, (connection: RawConnection) => unknown>> = {
  'reset by the sender': ({ socket }) => socket.resetAndDestroy(),
  'closed by the sender': ({ socket }) => socket.destroy(),
  'ended by the sender, which goes on listening': ({ socket }) => socket.end(),
};

/** Sends a part of a body and cuts it off: the delivery is rejected, and no handler sees the part. */
function cutOff(cut: (connection: RawConnection) => unknown, bytesOf: (target: Target) => string): Check {
  return attack({}, async (target) => {
    const { endpoint, hidesConnections } = target;
    const connection = await target.connect();
    connection.write(bytesOf(target));
    await endpoint.arrived(1);
    cut(connection);
    if (!hidesConnections) await connection.closed;
    const report = await endpoint.report();
    const expected = { outcome: 'rejected', status: 400, code: 'body_incomplete', attempt: undefined };
    expectMembers(report, expected, 'the report of the delivery');
    if (!hidesConnections) expectEqual(report.answerSent, false, 'answerSent of the report');
    expectEqual(endpoint.reports.length, 1, 'the number of reports');
  });
}

export const cutBodies: Group = {
  name: 'cut bodies',
  advice: CUT_BODY,
  checks: Object.fromEntries(
    Object.entries(framings).flatMap(([framing, { headers, frame }]) =>
      Object.entries(cuts).flatMap(([name, cut]): [name: string, check: Check][] => [
        [`${framing}, ${name}`, cutOff(cut, (target) => target.head(headers) + frame('{"id":'))],
        [
          // An adapter that takes this part for the whole body finds its signature right.
          `${framing}, ${name} behind a part that is an event with a right signature`,
          cutOff(cut, (target) => {
            const event = signed(transfer(), BASIC);
            const length = headers['content-length'] && String(event.body.length + 1);
            const framed = { ...headers, ...(length !== undefined && { 'content-length': length }) };
            return target.head({ ...event.headers, ...framed }) + frame(event.body);
          }),
        ],
      ]),
    ),
  ),
};

const maxBodyBytes = 1_000;

export const longBodies: Group = {
  name: 'long bodies',
  advice: BODY_LIMIT,
  checks: {
    // An adapter that waits for the end of the body gets 408 then.
    'a body over the limit, by its declared length and by its chunks': attack(
      { maxBodyBytes, bodyTimeoutMs: 3_000 },
      async (target) => {
        const bytes = [
          // Of this body no byte is sent.
          target.head({ 'content-length': '1001' }),
          target.head({ 'transfer-encoding': 'chunked' }) + chunk('x'.repeat(900)) + chunk('x'.repeat(101)),
        ];
        await Promise.all(
          bytes.map(async (sent) => {
            const connection = await target.connect();
            await expectRefusedAndClosed(target, connection.write(sent), [413, 'body_too_large']);
          }),
        );
        const expected = {
          outcome: 'rejected',
          status: 413,
          code: 'body_too_large',
          answerSent: true,
        } as const;
        expectReports(target.endpoint, [expected, expected]);
      },
    ),
    'what comes of a body after it was refused is not held': restIsDropped(
      { maxBodyBytes },
      [413, 'body_too_large'],
      ['x'.repeat(1_001), 'x'.repeat(500)],
    ),
    'a chunked body without a length, in chunks of one byte': attack({ maxBodyBytes }, async (target) => {
      const connection = await target.connect();
      const event = transfer();
      const { body, headers } = signed(event, BASIC);
      connection.write(target.head({ ...headers, 'transfer-encoding': 'chunked' }));
      for (const character of body) connection.write(chunk(character));
      connection.write('0\r\n\r\n');
      const answer = await connection.answer();
      expectAccepted(answer, 'processed', event.id);
      if (target.hidesConnections) return;
      expectEqual(answer.headers.get('connection') === 'close', false, 'Connection: close of 200');
      await target.expectServed(connection);
      expectEqual(target.endpoint.reports.length, 2, 'the number of reports');
    }),
  },
};

// Full with the fifth body, whether an adapter holds the bytes that came or a buffer that has doubled.
const limits = { maxBodyBytes: 16_384, maxBufferedBytes: 48_000 };

export const crowdedBodies: Group = {
  name: 'many bodies',
  advice: BODY_MEMORY,
  checks: {
    '64 bodies that never begin, whatever length they declare': attack(limits, async (target) => {
      const framing: Record<string, string>[] = [
        { 'content-length': '16384' },
        { 'transfer-encoding': 'chunked' },
      ];
      for (const headers of Array.from({ length: 32 }, () => framing).flat()) {
        (await target.connect()).write(target.head(headers));
      }
      await target.endpoint.arrived(64);
      await target.expectServed(await target.connect());
      expectReports(target.endpoint, [{ outcome: 'processed' }]);
    }),
    'more unfinished bodies than there is memory for': attack(limits, async (target) => {
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
      expectReports(target.endpoint, Array(5).fill({ outcome: 'processed' }));

      others.push(await begin());
      expectProblem(await stopped.answer(), 503, 'buffer_full');
      expectEqual(target.endpoint.reports.length, 7, 'the number of reports');
      const answers = [goingOn, ...others].map(({ rest }) => rest);
      expectEqual(answers, ['', '', '', ''], 'what the unfinished deliveries were answered');
      if (target.hidesConnections) return;
      // The rest of the refused body is dropped, and its connection serves on.
      await target.expectServed(stopped.write('x'.repeat(6_384)));
    }),
  },
};
