import assert from 'node:assert/strict';
import { performance } from '../../receiver/timing/process-clock.ts';
import { READ_BODY } from './advice.ts';
import { expectProblem } from './answer.ts';
import type { Bench } from './bench.ts';
import type { Check, Group } from './case.ts';
import { transfer } from './delivery.ts';
import { type Endpoint, expectReport } from './endpoint.ts';

/** For an answer that nothing has to be waited for. */
const ANSWER_LIMIT_MS = 2_000;

/** An adapter that waits for a body that has been read is answered after `bodyTimeoutMs`. */
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

/** For authors who can serve the adapter behind a reader of the body. */
export const readBodies: Group = {
  name: 'a body that was read before',
  advice: READ_BODY,
  checks: {
    'is answered 500 at once': refuseReadBody(JSON.stringify(transfer())),
    'does not get around the credentials': async (bench) => {
      const endpoint = await openReadBody(bench);
      const forged = await endpoint.send(transfer(), { 'x-service-signature': 'x' });
      expectProblem(forged, 403, 'signature_malformed');
    },
  },
};
