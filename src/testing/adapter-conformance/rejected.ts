import type { Report } from '../../receiver/outcomes/report.ts';
import type { ReportCode } from '../../receiver/refusals.ts';
import type { ReceiverOptions } from '../../receiver-interface.ts';
import { expectEqual, expectProblem, type Seen } from './answer.ts';
import type { Bench } from './bench.ts';
import type { Check } from './case.ts';
import { type SignedBody, signed, transfer } from './delivery.ts';
import { type Endpoint, expectReport } from './endpoint.ts';
import { headOf } from './raw-connection.ts';

/** One delivery that is to be rejected. */
interface Rejection {
  readonly options?: Partial<ReceiverOptions>;
  readonly status: number;
  /** Several if the platform of an adapter may hide which of them is right. */
  readonly code: ReportCode | readonly ReportCode[];
  /** The body that is sent with its right signature; an event by default. */
  readonly body?: object | string | Uint8Array;
  readonly headers?: Record<string, string>;
  /** Sends the delivery in another way. */
  readonly send?: (endpoint: Endpoint, bench: Bench) => Promise<Seen>;
  readonly verify?: (answer: Seen, report: Report) => void;
}

/** The check that one delivery to an endpoint is rejected, and that no handler sees it. */
export function rejects({ options = {}, status, code, body, headers, send, verify }: Rejection): Check {
  return async (bench) => {
    const endpoint = await bench.open({ options });
    const answer = await (send?.(endpoint, bench) ?? endpoint.send(body ?? transfer(), headers));
    expectProblem(answer, status, code);
    const report = await expectReport(endpoint, { outcome: 'rejected', status, attempt: undefined });
    expectEqual(report.code, JSON.parse(answer.body).code, 'the code of the report');
    expectEqual(report.error?.code, report.code, 'the code of the reported error');
    expectEqual(endpoint.handled, [], 'the ids that were handled');
    verify?.(answer, report);
  };
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
