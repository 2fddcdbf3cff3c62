import { Counter, Histogram, type Registry, type RegistryContentType } from 'prom-client';
import {
  type HandlerReport,
  type Observer,
  warningCodeOf,
  warningCodes,
} from '../../receiver/outcomes/report.ts';
import type { AccountLabels } from '../account-labels.ts';

const names = {
  deliveries: 'posthorn_deliveries_total',
  replays: 'posthorn_replays_total',
  jobs: 'posthorn_jobs_total',
  accepted: 'posthorn_accepted_total',
  reruns: 'posthorn_reruns_total',
  lateRuns: 'posthorn_late_runs_total',
  endpointAtRisk: 'posthorn_endpoint_at_risk_total',
  warnings: 'posthorn_warnings_total',
  answers: 'posthorn_delivery_duration_seconds',
  handlers: 'posthorn_handler_duration_seconds',
  keyWaits: 'posthorn_handler_key_wait_seconds',
} as const;

export const reportMetricNames: readonly string[] = Object.values(names);

/** In seconds, up to the service's time limit. */
const ANSWER_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 25, 30];

/** A handler may run on after the answer, for up to 240 seconds by default. */
const HANDLER_BUCKETS = [...ANSWER_BUCKETS, 60, 120, 240];

type Labels = Readonly<Record<string, string>>;

/**
 * Returns the observer of a receiver, whose values have `labels`. With `accounts`, the counters of what has
 * ended have the account too: histograms would have too many series.
 */
export type ReportMetrics = (labels: Labels, accounts: AccountLabels | undefined) => Observer;

/** Creates the metrics of the reports of receivers. */
export function createReportMetrics(register: Registry<RegistryContentType>): ReportMetrics {
  const created = createMetrics([register]);
  return (labels, accounts) => createObserver(created, labels, accounts);
}

function createObserver(
  created: ReturnType<typeof createMetrics>,
  labels: Labels,
  accounts: AccountLabels | undefined,
): Observer {
  const { ended, lateRuns, endpointAtRisk, warnings, answers, handlers, keyWaits } = created;
  // increase() does not see the first value of a counter that only appears with it.
  endpointAtRisk.inc(labels, 0);
  for (const code of warningCodes) warnings.inc({ code, ...labels }, 0);
  // A late report repeats the handlers of the earlier one.
  const counted = new WeakSet<HandlerReport>();

  return (report) => {
    const { outcome, code = 'none', source } = report;
    const entity = report.typeLabels?.entity ?? 'other';
    const account = accounts && { account: accounts.labelOf(report) };
    // Labels last: Node.js 20 is slow with an object that begins with a spread (bench/results).
    (report.late ? lateRuns : ended[source]).inc({ outcome, code, entity, ...labels, ...account });
    if (source === 'delivery' && !report.late) {
      answers.observe({ outcome, entity, ...labels }, report.durationMs / 1_000);
      if (report.endpointAtRisk) endpointAtRisk.inc(labels);
    }
    for (const warning of report.warnings) warnings.inc({ code: warningCodeOf(warning), ...labels });
    for (const handler of report.handlers) {
      if (counted.has(handler)) continue;
      counted.add(handler);
      const { name = 'unnamed', durationMs, keyWaitMs } = handler;
      handlers.observe({ handler: name, result: resultOf(handler), ...labels }, durationMs / 1_000);
      if (keyWaitMs !== undefined) keyWaits.observe({ handler: name, ...labels }, keyWaitMs / 1_000);
    }
  };
}

type Registers = Registry<RegistryContentType>[];

/** The labels of a receiver, in each of its metrics. A value may lack some of them. */
const OWN_LABELS = ['receiver', 'provider'];

function createMetrics(registers: Registers) {
  const labelNames = [...OWN_LABELS, 'account', 'outcome', 'code', 'entity'];
  const counterOf = (name: string, help: string): Counter =>
    new Counter({ name, help, labelNames, registers });
  const ended = {
    delivery: counterOf(names.deliveries, 'Deliveries that were answered.'),
    replay: counterOf(names.replays, 'Replays of dead letters that have ended.'),
    job: counterOf(names.jobs, 'Attempts of jobs of the queue that have ended.'),
    accept: counterOf(names.accepted, 'Events that the application fetched, by their outcome.'),
    rerun: counterOf(
      names.reruns,
      'Handlers of handled events that were to run once more, by their outcome.',
    ),
  };
  const lateRuns = counterOf(names.lateRuns, 'Runs that ended after their delivery had been answered.');
  const endpointAtRisk = new Counter({
    name: names.endpointAtRisk,
    help: 'Last attempts that were answered as failed: the service may stop sending events.',
    labelNames: OWN_LABELS,
    registers,
  });
  const warnings = new Counter({
    name: names.warnings,
    help: 'Warnings, once for each report that has them.',
    labelNames: [...OWN_LABELS, 'code'],
    registers,
  });
  const answers = new Histogram({
    name: names.answers,
    help: 'From the arrival of a delivery to its answer.',
    labelNames: [...OWN_LABELS, 'outcome', 'entity'],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  return { ended, lateRuns, endpointAtRisk, warnings, answers, ...createHandlerMetrics(registers) };
}

function createHandlerMetrics(registers: Registers) {
  const handlers = new Histogram({
    name: names.handlers,
    help: 'From the start of a handler to its end.',
    labelNames: [...OWN_LABELS, 'handler', 'result'],
    buckets: HANDLER_BUCKETS,
    registers,
  });
  const keyWaits = new Histogram({
    name: names.keyWaits,
    help: 'Time that a handler waited for its concurrency key, if it then got it.',
    labelNames: [...OWN_LABELS, 'handler'],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  return { handlers, keyWaits };
}

function resultOf({ ok, skipped }: HandlerReport): 'ok' | 'failed' | 'skipped' {
  if (skipped !== undefined) return 'skipped';
  return ok ? 'ok' : 'failed';
}
