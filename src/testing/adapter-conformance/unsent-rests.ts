import { UNSENT_REST } from './advice.ts';
import { expectProblem } from './answer.ts';
import type { Group } from './case.ts';
import type { RawConnection } from './raw-connection.ts';
import { attack, type Target } from './target.ts';

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** Deliveries that are refused by their heads, whatever their length. */
export const refusals: readonly Refusal[] = [
  { status: 405, code: 'method_not_allowed', headers: {}, method: 'PUT' },
  { status: 401, code: 'credentials_invalid', headers: { authorization: 'Basic eA==' } },
  { status: 403, code: 'signature_malformed', headers: { 'x-service-signature': 'x' } },
  { status: 415, code: 'encoding_unsupported', headers: { 'content-encoding': 'gzip' } },
];
export const tooLarge: Refusal = { status: 413, code: 'body_too_large', headers: {} };

export const FIVE_GIGABYTES = 5_000_000_000;

/** Sends the head of a delivery that is to be refused. Returns the header `connection` of the answer. */
export async function refused(
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

export const unsentRests: Group = {
  name: 'a body behind a refusal',
  advice: UNSENT_REST,
  checks: {
    'a refusal is answered before a body of 5 GB is sent': attack({}, async (target) => {
      for (const refusal of [...refusals, tooLarge]) {
        await refused(target, await target.connect(), refusal, { 'content-length': String(FIVE_GIGABYTES) });
      }
    }),
  },
};
