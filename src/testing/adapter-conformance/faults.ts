import assert from 'node:assert/strict';
import { READ_BODY, REJECTION } from './advice.ts';
import { expectEqual, expectProblem } from './answer.ts';
import type { Bench } from './bench.ts';
import type { Check, Group } from './case.ts';
import { signed, transfer } from './delivery.ts';
import { type Endpoint, expectReport } from './endpoint.ts';
import { headOf } from './raw-connection.ts';

const ANSWER_LIMIT_MS = 2_000;

function openReadBody(bench: Bench): Promise<Endpoint> {
  return bench.open({}, bench.platform.serveReadBody);
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

/** Sends a delivery to a receiver that breaks its promise. Returns the status, or 0 if no answer came. */
async function statusOfRejection(bench: Bench, receive: () => Promise<never>): Promise<number> {
  const { url, close } = await bench.platform.serve({ receive });
  try {
    const { body, headers } = signed();
    const connection = await bench.connect(url);
    connection.write(headOf(url, { ...headers, 'content-length': String(body.length) }) + body);
    const none = connection.closed.then(() => ({ status: 0 }));
    const { status } = await Promise.race([connection.answer().catch(() => none), none]);
    return status;
  } finally {
    await close();
  }
}

export const rejections: Group = {
  name: 'a receiver that rejects',
  advice: REJECTION,
  checks: {
    'is answered 5xx, or by the end of the connection': async (bench) => {
      const status = await statusOfRejection(bench, () => Promise.reject(new Error('no reply')));
      const isFailure = status === 0 || status >= 500;
      expectEqual(isFailure, true, `whether the answer tells of a failure (its status is ${status})`);
    },
  },
};
