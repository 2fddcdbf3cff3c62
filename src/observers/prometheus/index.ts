import { register as defaultRegister, type Registry, type RegistryContentType } from 'prom-client';
import { checkOptions, checkReceiver } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import type { Health } from '../../receiver/health/health.ts';
import type { ObserveOptions, Observer } from '../../receiver/outcomes/report.ts';
import { providerOf } from '../../receiver/provider/provider-of.ts';
import { propertyOf, show } from '../../receiver/values/foreign-values.ts';
import { accountLabelsFor } from '../account-labels.ts';
import { type AddHealth, createHealthMetrics, healthMetricNames } from './health.ts';
import { createReportMetrics, type ReportMetrics, reportMetricNames } from './reports.ts';

/** A register of prom-client: `new Registry()`, or its own `register`. */
export interface PrometheusRegister {
  /** The metric of that name, if there is one. */
  getSingleMetric(name: string): unknown;
  /** Adds a metric. */
  registerMetric(metric: never): void;
}

/** Options of {@link observeWithPrometheus}. */
export interface PrometheusOptions {
  /** The register for the metrics; by default the global `register` of prom-client. */
  readonly register?: PrometheusRegister | undefined;
}

/** The parts of a receiver that are measured, whatever its provider. */
export interface MeasuredReceiver {
  /** See `Receiver.name`. */
  readonly name?: string | undefined;
  /** See `Receiver.observe`. */
  observe(observer: Observer, options?: ObserveOptions): unknown;
  /** See `Receiver.health`. */
  health(): Promise<Health>;
}

/**
 * Counts and times the reports of a receiver as metrics of prom-client, and asks for its health at each
 * scrape. Labels are outcomes, codes, entities of the provider's types (`other` for the rest), names of
 * handlers, the name of the provider, that of the receiver, if it has one, and the first hundred accounts of
 * a receiver of several. No label holds the id of an event, or a text that a sender chooses.
 * docs/operations.md has every metric, alert rules and a dashboard.
 *
 * The default log stays on. Receivers share a register if each has a `name` of its own.
 *
 * @throws ConfigurationError for a wrong option, for a value that is not a receiver, and if the register
 * already has a receiver of this name, or one without a name.
 *
 * @example
 * ```ts
 * import { observeWithPrometheus } from 'posthorn/prometheus';
 * import { register } from 'prom-client';
 *
 * observeWithPrometheus(receiver);
 * app.get('/metrics', async (_request, response) => {
 *   response.type(register.contentType).send(await register.metrics());
 * });
 * ```
 */
export function observeWithPrometheus(receiver: MeasuredReceiver, options: PrometheusOptions = {}): void {
  checkReceiver(receiver, 'observeWithPrometheus', ['observe', 'health']);
  checkOptions(options, ['register'], 'observeWithPrometheus');
  const { name } = receiver;
  const { names, reports, addHealth } = metricsOf(readRegister(options.register));
  if (names.has(name)) throw takenName(name);
  names.add(name);
  const { name: provider } = providerOf(receiver);
  const labels = { ...(name !== undefined && { receiver: name }) };
  const reportLabels = { ...labels, ...(provider !== undefined && { provider }) };
  receiver.observe(reports(reportLabels, accountLabelsFor(receiver)), { keepDefaultLog: true });
  addHealth(labels, () => receiver.health());
}

type AnyRegistry = Registry<RegistryContentType>;

/** The metrics in a register, and the names of the receivers that they are of. */
interface RegisteredMetrics {
  readonly names: Set<string | undefined>;
  readonly reports: ReportMetrics;
  readonly addHealth: AddHealth;
}

const registered = new WeakMap<AnyRegistry, RegisteredMetrics>();

/** Returns the metrics of a register; creates them for its first receiver, and after `register.clear()`. */
function metricsOf(register: AnyRegistry): RegisteredMetrics {
  const taken = [...reportMetricNames, ...healthMetricNames].find(
    (name) => register.getSingleMetric(name) !== undefined,
  );
  const existing = registered.get(register);
  if (taken !== undefined && existing !== undefined) return existing;
  if (taken !== undefined) {
    throw new ConfigurationError(
      `the register of observeWithPrometheus has ${taken} already, from another copy of posthorn: give this ` +
        'receiver a register of its own, { register: new Registry() }, that is scraped under another path. With ' +
        'one receiver, a dev server has evaluated its module again: keep the receiver in globalThis',
    );
  }
  const reports = createReportMetrics(register);
  const metrics = { names: new Set<string | undefined>(), reports, addHealth: createHealthMetrics(register) };
  registered.set(register, metrics);
  return metrics;
}

function takenName(name: string | undefined): ConfigurationError {
  return new ConfigurationError(
    `the register of observeWithPrometheus has a receiver ${name === undefined ? 'without a name' : `named ${show(name)}`} ` +
      "already: call it once for each receiver, and give each one a name of its own, createReceiver({ name: 'stripe' }). " +
      'With one receiver, a dev server has evaluated its module again: keep the receiver in globalThis',
  );
}

function readRegister(register: PrometheusRegister = defaultRegister): AnyRegistry {
  if (isRegistry(register)) return register;
  throw new ConfigurationError(
    `register of observeWithPrometheus must be a register of prom-client, got ${show(register)}`,
  );
}

function isRegistry(register: PrometheusRegister): register is PrometheusRegister & AnyRegistry {
  return ['getSingleMetric', 'registerMetric', 'metrics'].every(
    (name) => typeof propertyOf(register, name) === 'function',
  );
}
