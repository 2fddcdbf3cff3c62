import { expect } from 'vitest';
import { attack, type Target } from './attack.ts';
import { expectProblem, type Mount } from './endpoint.ts';
import type { RawConnection } from './raw-connection.ts';

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** What is refused by its head, whatever its length. */
const refusals: readonly Refusal[] = [
  { status: 405, code: 'method_not_allowed', headers: {}, method: 'PUT' },
  { status: 401, code: 'credentials_invalid', headers: { authorization: 'Basic eA==' } },
  { status: 403, code: 'signature_malformed', headers: { 'x-service-signature': 'x' } },
  { status: 415, code: 'encoding_unsupported', headers: { 'content-encoding': 'gzip' } },
];
const tooLarge: Refusal = { status: 413, code: 'body_too_large', headers: {} };

const FIVE_GIGABYTES = 5_000_000_000;

interface Flow {
  readonly headers: Readonly<Record<string, string>>;
  /** What the sender goes on sending. */
  readonly send: (connection: RawConnection) => unknown;
}

const flows: readonly Flow[] = [
  { headers: { 'content-length': String(FIVE_GIGABYTES) }, send: () => {} },
  {
    headers: { 'content-length': String(FIVE_GIGABYTES) },
    send: (connection) => connection.flood(FIVE_GIGABYTES),
  },
  {
    headers: { 'transfer-encoding': 'chunked' },
    send: (connection) => connection.write(`${FIVE_GIGABYTES.toString(16)}\r\n`).flood(FIVE_GIGABYTES),
  },
];

export function hostileRefusals(mount: Mount): void {
  attack(
    '5 GB behind a refusal: the answer arrives whole, the connection is closed soon',
    mount,
    {},
    async (to) => {
      const startedAt = performance.now();
      const cases = [...refusals, tooLarge].flatMap((refusal) =>
        flows
          .filter(({ headers }) => refusal !== tooLarge || 'content-length' in headers)
          .map((flow) => ({ refusal, flow })),
      );
      // Side by side, because each takes its time to close.
      await Promise.all(cases.map(({ refusal, flow }) => expectClosed(to, refusal, flow)));
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect(to.endpoint.reports).toHaveLength(cases.length);
      for (const report of to.endpoint.reports) expect(report).toMatchObject({ outcome: 'rejected' });
    },
  );

  attack('a sender that reads nothing before it has sent 20 MB of its 5 GB', mount, {}, async (target) => {
    const connection = await target.connect();
    connection.socket.pause();
    const headers = { authorization: 'Basic eA==', 'content-length': String(FIVE_GIGABYTES) };
    // A server that closed at once would reset the connection, and take the unread answer with it.
    await connection.write(target.head(headers)).flood(20_000_000);
    connection.socket.resume();
    expectProblem(await connection.answer(), 401, 'credentials_invalid');
  });

  for (const refusal of refusals) {
    attack(
      `${refusal.status}: a small rest is dropped and the connection kept`,
      mount,
      {},
      async (target) => {
        const connection = await target.connect();
        expect(await refused(target, connection, refusal, { 'content-length': '5000' })).not.toBe('close');
        connection.write('x'.repeat(2_000)).write('x'.repeat(3_000));
        await target.expectServed(connection);
        expect(target.endpoint.reports.map(({ outcome }) => outcome)).toEqual(['rejected', 'processed']);
      },
    );
  }

  attack(
    'a small rest that does not come closes the connection',
    mount,
    { bodyTimeoutMs: 100 },
    async (to) => {
      await Promise.all(
        refusals.map(async (refusal) => {
          const connection = await to.connect();
          expect(await refused(to, connection, refusal, { 'content-length': '5000' })).not.toBe('close');
          await connection.closed;
          expect(connection.rest).toBe('');
        }),
      );
    },
  );
}

/** Sends the head of a delivery that is to be refused. Returns what the answer says of the connection. */
async function refused(
  target: Target,
  connection: RawConnection,
  { status, code, headers, method }: Refusal,
  framing: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  connection.write(target.head({ ...headers, ...framing }, method));
  const answer = await connection.answer();
  expectProblem(answer, status, code);
  return answer.headers.get('connection');
}

/** Sees the answer come whole and alone, and the connection closed before much of the body was taken. */
async function expectClosed(target: Target, refusal: Refusal, { headers, send }: Flow): Promise<void> {
  const connection = await target.connect();
  expect(await refused(target, connection, refusal, headers)).toBe('close');
  await Promise.all([send(connection), connection.closed]);
  expect(connection.rest).toBe('');
  expect(connection.socket.bytesWritten).toBeLessThan(FIVE_GIGABYTES / 2);
}
