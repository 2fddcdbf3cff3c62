import assert from 'node:assert/strict';
import { withTimeLimit } from '../../timing/time-limit.ts';
import { READ_BODY, REJECTION } from './advice.ts';
import { expectProblem } from './answer.ts';
import type { Bench } from './bench.ts';
import type { Check, Group } from './case.ts';
import { signed, transfer } from './delivery.ts';
import { type Endpoint, expectReport } from './endpoint.ts';
import { headOf } from './raw-connection.ts';

/** For an answer that nothing has to be waited for. */
const ANSWER_LIMIT_MS = 2_000;

/** The answer to who waits for a body that has been read comes after `bodyTimeoutMs`. */
function openReadBody(bench: Bench): Promise<Endpoint> {
  return bench.open({ options: { bodyTimeoutMs: 1_000 } }, bench.platform.serveReadBody);
}

function refuseReadBody(body: string): Check {
  return async (bench) => {
    const endpoint = await openReadBody(bench);
    const startedAt = performance.now();
    expectProblem(await endpoint.send(body), 500, 'body_already_parsed');
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < ANSWER_LIMIT_MS, `the answer must come at once, it took ${Math.round(tookMs)} ms`);
    await expectReport(endpoint, { outcome: 'failed', status: 500, code: 'body_already_parsed' });
  };
}

/** Where the author can serve the adapter behind a reader of the body. */
export const readBodies: Group = {
  name: 'a body that was read before',
  advice: READ_BODY,
  checks: {
    'is answered 500 at once': refuseReadBody(JSON.stringify(transfer())),
    'is no way around the credentials': async (bench) => {
      const endpoint = await openReadBody(bench);
      const forged = await endpoint.send(transfer(), { 'x-service-signature': 'x' });
      expectProblem(forged, 403, 'signature_malformed');
    },
  },
};

/** Resolves with the status that a delivery gets from a receiver that rejects, or 0 if it gets none. */
async function statusOfRejection(bench: Bench): Promise<number> {
  const { url } = await bench.serve({ receive: () => Promise.reject(new Error('no reply')) });
  const { body, headers } = signed();
  const connection = await bench.connect(url);
  connection.write(headOf(url, { ...headers, 'content-length': String(body.length) }) + body);
  const noAnswer = connection.closed.then(() => 0);
  return Promise.race([
    connection.answer().then(
      ({ status }) => status,
      () => noAnswer,
    ),
    noAnswer,
  ]);
}

export const rejections: Group = {
  name: 'a receiver that rejects',
  advice: REJECTION,
  checks: {
    'is answered 5xx, or by the end of the connection': async (bench) => {
      const late = (): Error => new Error(`neither came within ${ANSWER_LIMIT_MS / 1_000} seconds`);
      const status = await withTimeLimit(statusOfRejection(bench), ANSWER_LIMIT_MS, late);
      assert.ok(status === 0 || status >= 500, `the status must tell of a failure, got ${status}`);
    },
  },
};
