import type { Store } from '../../receiver/dedupe/store.ts';
import type { ReportCode } from '../../receiver/refusals.ts';
import type { Receiver, ReceiverOptions } from '../../receiver-interface.ts';
import { AS_IT_IS } from './advice.ts';
import { expectAccepted, expectEqual, expectProblem } from './answer.ts';
import type { Check, Group } from './case.ts';
import { HANDLER_MESSAGE, KEY, transfer } from './delivery.ts';
import { expectReport } from './endpoint.ts';
import { Gate } from './waits.ts';

/** A store all of whose operations do the same. */
export function brokenStore(operate: () => Promise<never>): Store {
  return { claim: operate, renew: operate, complete: operate, release: operate };
}

function unavailable(
  options: Partial<ReceiverOptions>,
  code: ReportCode,
  register?: (receiver: Receiver) => unknown,
): Check {
  return async (bench) => {
    const endpoint = await bench.open({ options, register });
    expectProblem(await endpoint.send(transfer()), 503, code);
    await expectReport(endpoint, { outcome: 'failed', status: 503, code });
    expectEqual(endpoint.handled, [], 'the ids that were handled');
  };
}

function withoutStore(operate: () => Promise<never>): Check {
  return unavailable({ store: brokenStore(operate), deadlineMs: 100 }, 'store_unavailable');
}

function withoutKeys(signingKey: () => Promise<string | readonly string[]>): Check {
  return unavailable({ signingKey, deadlineMs: 100 }, 'keys_unavailable');
}

function fail(): never {
  throw new Error(HANDLER_MESSAGE);
}

export const unavailableAnswers: Group = {
  name: '503',
  advice: AS_IT_IS,
  checks: {
    'a store that rejects': withoutStore(async () => fail()),
    'a store that throws': withoutStore(fail),
    'a store that never answers': (bench) => withoutStore(bench.unanswered)(bench),
    'a key source that rejects': withoutKeys(async () => fail()),
    'a key source that throws': withoutKeys(fail),
    'a key source that is late': (bench) => withoutKeys(bench.unanswered)(bench),
    'a key source that gives no key': withoutKeys(async () => []),
    'a key source that gives an empty key': withoutKeys(async () => ''),
    'no handler is registered': unavailable({}, 'no_handlers', () => {}),

    'the memory for bodies is taken': async (bench) => {
      const keys = new Gate();
      const asked = new Gate();
      const signingKey = async (): Promise<string> => {
        asked.open();
        await keys.opened;
        return KEY;
      };
      const event = transfer();
      const maxBodyBytes = Buffer.byteLength(JSON.stringify(event)) + 10;
      const limits = { maxBodyBytes, maxBufferedBytes: maxBodyBytes };
      const endpoint = await bench.open({ options: { signingKey, ...limits } });
      const first = endpoint.send(event);
      await bench.waits.for('the body of a delivery to be read', asked.opened);
      expectProblem(await endpoint.send(transfer()), 503, 'buffer_full');
      await expectReport(endpoint, { outcome: 'failed', status: 503, code: 'buffer_full' });
      keys.open();
      expectAccepted(await first, 'processed', event.id);
      const next = transfer();
      expectAccepted(await endpoint.send(next), 'processed', next.id);
    },

    closing: async (bench) => {
      const endpoint = await bench.open();
      expectEqual(await endpoint.receiver.close(), { abandoned: [] }, 'the result of close');
      expectProblem(await endpoint.send(transfer()), 503, 'closing');
      await expectReport(endpoint, { outcome: 'failed', status: 503, code: 'closing' });
    },
  },
};
