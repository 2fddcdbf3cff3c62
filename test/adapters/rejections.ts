import assert from 'node:assert/strict';
import { withTimeLimit } from '../../src/receiver/timing/time-limit.ts';
import type { Bench } from '../../src/testing/adapter-conformance/bench.ts';
import type { Group } from '../../src/testing/adapter-conformance/case.ts';
import { signed } from '../../src/testing/adapter-conformance/delivery.ts';
import { headOf } from '../../src/testing/adapter-conformance/raw-connection.ts';

/** For an answer that nothing has to be waited for. */
const ANSWER_LIMIT_MS = 2_000;

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

/** A receiver never rejects. If one did, its delivery would still have to end. */
export const rejections: Group = {
  name: 'a receiver that rejects',
  advice: 'An adapter must catch its rejection, and end the delivery.',
  checks: {
    'is answered 5xx, or by the end of the connection': async (bench) => {
      const late = (): Error => new Error(`neither came within ${ANSWER_LIMIT_MS / 1_000} seconds`);
      const status = await withTimeLimit(statusOfRejection(bench), ANSWER_LIMIT_MS, late);
      assert.ok(status === 0 || status >= 500, `the status must tell of a failure, got ${status}`);
    },
  },
};
