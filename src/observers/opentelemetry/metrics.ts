import {
  type Attributes,
  type Counter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
} from '@opentelemetry/api';
import { PermanentError } from '../../receiver/errors.ts';
import type { MiddlewareContext } from '../../receiver/handling/handlers/middleware.ts';
import { type HandlerReport, type Report, warningCodeOf } from '../../receiver/outcomes/report.ts';
import { performance } from '../../receiver/timing/process-clock.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import type { AccountLabels } from '../account-labels.ts';
import { quietly } from './quietly.ts';

/** In seconds: from a handler of a millisecond to the service's time limit, and up to `maxRunMs`. */
const BOUNDARIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 240];

/** Counters and histograms of deliveries and their results. No attribute identifies a single event. */
export class DeliveryMetrics {
  readonly #provider: MeterProvider | undefined;
  readonly #receiver: string | undefined;
  readonly #accounts: AccountLabels | undefined;
  #instruments: Instruments | undefined;
  /** A late report repeats the handlers of the earlier one. */
  readonly #counted = new WeakSet<HandlerReport>();

  constructor(
    provider: MeterProvider | undefined,
    receiver: string | undefined,
    accounts: AccountLabels | undefined,
  ) {
    this.#provider = provider;
    this.#receiver = receiver;
    this.#accounts = accounts;
  }

  /** Measures a handler. */
  async around(
    { event, handler }: Pick<MiddlewareContext, 'event' | 'handler'>,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    const startedAt = performance.now();
    const record = (code: string | undefined): void => {
      const seconds = (performance.now() - startedAt) / 1_000;
      const attributes = this.#attributes(event, {
        'posthorn.handler.name': handler.name,
        'error.type': code,
      });
      quietly(() => this.#read().handlerDuration.record(seconds, attributes));
    };
    try {
      const returned = await next();
      record(undefined);
      return returned;
    } catch (error) {
      record(isInstance(error, PermanentError) ? 'handler_failed_permanently' : 'handler_failed');
      throw error;
    }
  }

  /** Counts a report. */
  report(report: Report): void {
    const { deliveries, deliveryDuration, lateEnds, warnings, endpointAtRisk } = this.#read();
    const attributes = this.#attributes(report, attributesOf(report));
    // Only these two counters have the account: in histograms it would make too many series.
    const withAccount = withoutUndefined({
      'posthorn.account': this.#accounts?.labelOf(report),
      ...attributes,
    });
    if (report.late) lateEnds.add(1, withAccount);
    else {
      deliveries.add(1, withAccount);
      deliveryDuration.record(report.durationMs / 1_000, attributes);
      // The late report of a run repeats it.
      if (report.endpointAtRisk) endpointAtRisk.add(1, attributes);
    }
    for (const warning of report.warnings)
      warnings.add(1, this.#attributes(report, { 'posthorn.warning.code': warningCodeOf(warning) }));
    for (const handler of report.handlers) this.#recordKeyWait(handler, report);
  }

  #recordKeyWait(handler: HandlerReport, report: Report): void {
    const { name, keyWaitMs } = handler;
    if (keyWaitMs === undefined || this.#counted.has(handler)) return;
    this.#counted.add(handler);
    this.#read().handlerKeyWait.record(
      keyWaitMs / 1_000,
      this.#attributes(report, { 'posthorn.handler.name': name }),
    );
  }

  #attributes({ provider }: Pick<Report, 'provider'>, attributes: Attributes): Attributes {
    return withoutUndefined({
      'posthorn.receiver': this.#receiver,
      'posthorn.provider': provider,
      ...attributes,
    });
  }

  /**
   * Creates the instruments at their first use, so that a global provider may be set after the receiver is
   * created.
   */
  #read(): Instruments {
    this.#instruments ??= createInstruments(
      (this.#provider ?? metrics.getMeterProvider()).getMeter('posthorn'),
    );
    return this.#instruments;
  }
}

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(meter: Meter) {
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description });
  const histogram = (name: string, description: string): Histogram =>
    meter.createHistogram(name, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: BOUNDARIES },
    });
  return {
    deliveries: counter(
      'posthorn.deliveries',
      '{delivery}',
      'Deliveries that were answered, and replays, jobs, fetched events and reruns that ended.',
    ),
    deliveryDuration: histogram(
      'posthorn.delivery.duration',
      'From the arrival of a delivery to its answer.',
    ),
    lateEnds: counter(
      'posthorn.late_ends',
      '{run}',
      'Runs that ended after their delivery had been answered.',
    ),
    handlerDuration: histogram('posthorn.handler.duration', 'From the start of a handler to its end.'),
    handlerKeyWait: histogram(
      'posthorn.handler.key_wait',
      'Time that a handler waited for its concurrency key, if it then got it.',
    ),
    warnings: counter('posthorn.warnings', '{warning}', 'Warnings of reports.'),
    endpointAtRisk: counter(
      'posthorn.endpoint_at_risk',
      '{delivery}',
      'Last attempts that were answered as failed: the service may stop sending.',
    ),
  };
}

function attributesOf(report: Report): Attributes {
  return {
    'posthorn.source': report.source,
    'posthorn.outcome': report.outcome,
    'error.type': report.code,
    'posthorn.entity': report.typeLabels?.entity,
  };
}

/** Removes undefined attributes: exporters of metrics, unlike those of spans, may write `undefined` out. */
function withoutUndefined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
