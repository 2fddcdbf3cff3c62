import assert from 'node:assert/strict';
import { expectEqual, expectMembers, expectProblem } from '../../src/testing/adapter-conformance/answer.ts';
import type { Check, Group } from '../../src/testing/adapter-conformance/case.ts';
import type { RawConnection } from '../../src/testing/adapter-conformance/raw-connection.ts';
import { attack, type Target } from '../../src/testing/adapter-conformance/target.ts';
import {
  FIVE_GIGABYTES,
  type Refusal,
  refusals,
  refused,
  tooLarge,
} from '../../src/testing/adapter-conformance/unsent-rests.ts';

const UNREAD_REST = 'The rest of a request is dropped for a while, and its connection is kept or closed.';

interface Flow {
  readonly headers: Readonly<Record<string, string>>;
  /** What the sender goes on sending. */
  readonly send: (connection: RawConnection) => unknown;
}

const nothing: Flow = { headers: { 'content-length': String(FIVE_GIGABYTES) }, send: () => {} };
const flows: readonly Flow[] = [
  nothing,
  {
    headers: { 'content-length': String(FIVE_GIGABYTES) },
    send: (connection) => flood(connection, FIVE_GIGABYTES),
  },
  {
    headers: { 'transfer-encoding': 'chunked' },
    send: (connection) => flood(connection.write(`${FIVE_GIGABYTES.toString(16)}\r\n`), FIVE_GIGABYTES),
  },
];

/** Writes as much as the peer takes, until the connection is closed or `most` bytes are on their way. */
async function flood({ socket, closed }: RawConnection, most: number): Promise<void> {
  const bytes = Buffer.alloc(65_536, 'x');
  for (let sent = 0; sent < most && socket.writable; sent += bytes.length) {
    if (socket.write(bytes)) continue;
    const drained = new Promise<void>((resolve) => socket.once('drain', resolve));
    await Promise.race([drained, closed]);
  }
}

/** Sees the answer come whole and alone, and the connection closed before much of the body was taken. */
async function expectClosed(target: Target, refusal: Refusal, { headers, send }: Flow): Promise<void> {
  const connection = await target.connect();
  const said = await refused(target, connection, refusal, headers);
  expectEqual(said, 'close', `the header connection of ${refusal.status}`);
  await Promise.all([send(connection), connection.closed]);
  expectEqual(connection.rest, '', 'what follows the answer');
  assert.ok(connection.socket.bytesWritten < FIVE_GIGABYTES / 2, 'the rest of the request must not be read');
}

/** Sees the answer of a small refused request leave the connection open. */
async function expectKept(target: Target, connection: RawConnection, refusal: Refusal): Promise<void> {
  const said = await refused(target, connection, refusal, { 'content-length': '5000' });
  assert.ok(said !== 'close', `${refusal.status} must leave the connection open for a small rest`);
}

function keep(refusal: Refusal): Check {
  return attack({}, async (target) => {
    const connection = await target.connect();
    await expectKept(target, connection, refusal);
    connection.write('x'.repeat(2_000)).write('x'.repeat(3_000));
    await target.expectServed(connection);
    const outcomes = target.endpoint.reports.map(({ outcome }) => outcome);
    expectEqual(outcomes, ['rejected', 'processed'], 'the outcomes');
  });
}

/** What is left of a request whose answer is known by its head. */
export const unreadRests: Group = {
  name: 'a body behind a refusal',
  advice: UNREAD_REST,
  checks: {
    '5 GB behind a refusal: the answer arrives whole, the connection is closed soon': attack(
      {},
      async (target) => {
        const startedAt = performance.now();
        const cases = [...refusals, tooLarge].flatMap((refusal) =>
          flows
            .filter(({ headers }) => refusal !== tooLarge || 'content-length' in headers)
            .map((flow) => ({ refusal, flow })),
        );
        // Side by side, because each takes its time to close.
        await Promise.all(cases.map(({ refusal, flow }) => expectClosed(target, refusal, flow)));
        assert.ok(performance.now() - startedAt < 10_000, 'the connections must be closed within 10 seconds');
        const { reports } = target.endpoint;
        expectEqual(reports.length, cases.length, 'the number of reports');
        for (const report of reports) expectMembers(report, { outcome: 'rejected' }, 'a report');
      },
    ),
    'a sender that reads nothing before it has sent 4 MB of its 5 GB': attack({}, async (target) => {
      const connection = await target.connect();
      connection.socket.pause();
      const headers = { authorization: 'Basic eA==', 'content-length': String(FIVE_GIGABYTES) };
      // A server that closed at once would reset the connection, and take the unread answer with it.
      await flood(connection.write(target.head(headers)), 4_000_000);
      connection.socket.resume();
      expectProblem(await connection.answer(), 401, 'credentials_invalid');
    }),
    ...Object.fromEntries(
      refusals.map((refusal) => [
        `${refusal.status}: a small rest is dropped and the connection kept`,
        keep(refusal),
      ]),
    ),
    'a small rest that does not come closes the connection': attack(
      { bodyTimeoutMs: 100 },
      async (target) => {
        await Promise.all(
          refusals.map(async (refusal) => {
            const connection = await target.connect();
            await expectKept(target, connection, refusal);
            await connection.closed;
            expectEqual(connection.rest, '', 'what follows the answer');
          }),
        );
      },
    ),
  },
};
