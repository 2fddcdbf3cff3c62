import assert from 'node:assert/strict';
import { PermanentError } from '../../receiver/errors.ts';
import type { StandardSchemaV1 } from '../../receiver/events/schema.ts';
import type { ReportCode } from '../../receiver/refusals.ts';
import { createMemoryStore } from '../../stores/memory/memory.ts';
import { createEvent } from '../create-event.ts';
import { AS_IT_IS } from './advice.ts';
import { expectAccepted, expectEqual, expectMembers, expectProblem } from './answer.ts';
import type { Check, Group } from './case.ts';
import { HANDLER_MESSAGE, transfer } from './delivery.ts';
import { expectReport } from './endpoint.ts';
import { Gate } from './waits.ts';

function failFirst(code: ReportCode, handler: () => unknown): Check {
  return async (bench) => {
    let runs = 0;
    const endpoint = await bench.open({
      register: (receiver) =>
        receiver.on('transfer.*', () => {
          runs += 1;
          return runs === 1 ? handler() : undefined;
        }),
    });
    const event = transfer();
    expectProblem(await endpoint.send(event), 500, code);
    const report = await expectReport(endpoint, {
      outcome: 'failed',
      status: 500,
      code,
      event: { id: event.id, type: event.type },
      attempt: 1,
    });
    assert.ok(report.error?.message.includes(HANDLER_MESSAGE), 'the report must tell what a handler threw');
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    expectMembers(await endpoint.report(1), { outcome: 'processed', attempt: 2 }, 'the second report');
  };
}

const REFUSING_SCHEMA: StandardSchemaV1 = {
  '~standard': {
    version: 1,
    vendor: 'posthorn',
    validate: () => ({ issues: [{ message: HANDLER_MESSAGE, path: ['amount'] }] }),
  },
};

export const failedAnswers: Group = {
  name: '500',
  advice: AS_IT_IS,
  checks: {
    'a handler that throws; the next delivery is another attempt': failFirst('handler_failed', () => {
      throw new Error(HANDLER_MESSAGE);
    }),
    'a handler that rejects; the next delivery is another attempt': failFirst('handler_failed', () =>
      Promise.reject(new Error(HANDLER_MESSAGE)),
    ),
    'a handler that throws no Error; the next delivery is another attempt': failFirst('handler_failed', () =>
      Promise.reject(HANDLER_MESSAGE),
    ),
    'a handler that says that no retry can help; the next delivery is another attempt': failFirst(
      'handler_failed_permanently',
      () => Promise.reject(new PermanentError(HANDLER_MESSAGE)),
    ),
    'data that a schema refuses': async (bench) => {
      const endpoint = await bench.open({ options: { schemas: { transfer: REFUSING_SCHEMA } } });
      const event = createEvent('transfer.created', { amount: 'much' });
      expectProblem(await endpoint.send(event), 500, 'data_invalid');
      await expectReport(endpoint, { outcome: 'failed', status: 500, code: 'data_invalid' });
      expectEqual(endpoint.handled, [], 'the ids that were handled');
    },
  },
};

export const lateAnswers: Group = {
  name: '503',
  advice: AS_IT_IS,
  checks: {
    'handlers still running at the deadline; a concurrent duplicate is busy; a late success counts': async (
      bench,
    ) => {
      const gate = new Gate();
      const endpoint = await bench.open({
        options: { deadlineMs: 100 },
        register: (receiver) => receiver.on('transfer.*', () => gate.opened),
      });
      const event = transfer();
      expectProblem(await endpoint.send(event), 503, 'deadline_reached');
      await expectReport(endpoint, { outcome: 'failed', status: 503, code: 'deadline_reached', attempt: 1 });
      expectProblem(await endpoint.send(event), 503, 'event_running');
      expectEqual(endpoint.reports.length, 2, 'the number of reports');
      const busy = { outcome: 'busy', status: 503, code: 'event_running' };
      expectMembers(await endpoint.report(1), busy, 'the report of the duplicate');
      gate.open();
      const { late, outcome, event: of } = await endpoint.report(2);
      expectEqual([late, outcome, of?.id], [true, 'processed', event.id], 'the late report');
      expectAccepted(await endpoint.send(event), 'duplicate', event.id);
      expectEqual(endpoint.reports.length, 4, 'the number of reports');
    },
    'a concurrent duplicate that another process still runs at the deadline': async (bench) => {
      const store = createMemoryStore();
      const { id, ...event } = transfer();
      await store.claim({ id, token: 'of another process', leaseMs: 60_000, retentionMs: 60_000 });
      const endpoint = await bench.open({ options: { store, deadlineMs: 100 } });
      expectProblem(await endpoint.send({ id, ...event }), 503, 'event_running');
      await expectReport(endpoint, { outcome: 'busy', status: 503, code: 'event_running' });
    },
  },
};
