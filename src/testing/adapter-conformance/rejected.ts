import type { ReceiverOptions } from '../../receiver/options.ts';
import type { ReportCode } from '../../receiver/outcomes/outcome.ts';
import { expectEqual, expectProblem, type Seen } from './answer.ts';
import type { Bench } from './bench.ts';
import { type SignedBody, signed } from './delivery.ts';
import { type Endpoint, expectReport } from './endpoint.ts';
import { headOf } from './raw-connection.ts';

/** One delivery that is to be rejected. */
interface Rejection {
  readonly options?: Partial<ReceiverOptions>;
  readonly status: number;
  /** Several if the platform of an adapter may hide which of them is right. */
  readonly code: ReportCode | readonly ReportCode[];
  readonly send: (endpoint: Endpoint) => Promise<Seen>;
}

/** Opens an endpoint, sends one delivery, and sees it rejected; no handler saw it. */
export async function expectRejected(
  bench: Bench,
  { options = {}, status, code, send }: Rejection,
): Promise<{ answer: Seen; endpoint: Endpoint }> {
  const handled: string[] = [];
  const endpoint = await bench.open({
    options,
    register: (receiver) => receiver.on('*', (event) => handled.push(event.id)),
  });
  const answer = await send(endpoint);
  expectProblem(answer, status, code);
  const { code: reported, error } = await expectReport(endpoint, {
    outcome: 'rejected',
    status,
    attempt: undefined,
  });
  expectEqual(reported, JSON.parse(answer.body).code, 'the code of the report');
  expectEqual(error?.code, reported, 'the code of the reported error');
  expectEqual(handled, [], 'the ids that were handled');
  return { answer, endpoint };
}

/** Sends an event over a connection of its own, with a list of header fields that `fetch` could not send. */
export async function sendFields(
  bench: Bench,
  endpoint: Endpoint,
  delivery: SignedBody,
  fields: readonly (readonly [name: string, value: string])[],
): Promise<Seen> {
  const length = ['content-length', String(Buffer.byteLength(delivery.body))] as const;
  const connection = await bench.connect(endpoint.url);
  connection.write(headOf(endpoint.url, [...fields, length])).write(delivery.body);
  return connection.answer();
}

/** A delivery with fields behind its own. */
export async function sendWith(
  bench: Bench,
  endpoint: Endpoint,
  fields: (delivery: SignedBody) => readonly (readonly [name: string, value: string])[],
): Promise<Seen> {
  const delivery = signed();
  return sendFields(bench, endpoint, delivery, [...Object.entries(delivery.headers), ...fields(delivery)]);
}
