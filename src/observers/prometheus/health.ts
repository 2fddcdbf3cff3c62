import { type Aggregator, Gauge, type Registry, type RegistryContentType } from 'prom-client';
import type { Receiver } from '../../receiver-interface.ts';

type Health = Awaited<ReturnType<Receiver['health']>>;

interface HealthMetric {
  readonly name: string;
  readonly help: string;
  /** The way to merge the metrics of the workers of `node:cluster`. */
  readonly aggregator: Aggregator;
  /** Returns undefined if the value is unknown: then there is no sample. */
  readonly read: (health: Health) => number | undefined;
}

const metrics: readonly HealthMetric[] = [
  {
    name: 'posthorn_store_up',
    help: '1 if the store answers, else 0.',
    aggregator: 'min',
    read: ({ store }) => Number(store.ok),
  },
  {
    name: 'posthorn_store_latency_seconds',
    help: 'Time until the store answered or failed at this scrape.',
    aggregator: 'max',
    read: ({ store }) => store.latencyMs / 1_000,
  },
  {
    name: 'posthorn_runs',
    help: 'Events that this process is handling.',
    aggregator: 'sum',
    read: ({ running }) => running,
  },
  {
    name: 'posthorn_dead_letters_up',
    help: '1 if the dead letters can be read, else 0.',
    aggregator: 'min',
    read: ({ deadLetters }) => deadLetters && Number(deadLetters.ok),
  },
  {
    name: 'posthorn_dead_letters',
    help: 'Waiting dead letters that could be counted, 1000 at most. Processes that share them give the same number.',
    aggregator: 'max',
    read: ({ deadLetters }) => deadLetters?.waiting,
  },
  {
    name: 'posthorn_dead_letters_more',
    help: '1 if there may be more dead letters than posthorn_dead_letters, else 0.',
    aggregator: 'max',
    read: ({ deadLetters }) => deadLetters && Number(deadLetters.more),
  },
  {
    name: 'posthorn_dead_letters_oldest_timestamp_seconds',
    help: 'Time when the oldest waiting dead letter was parked.',
    aggregator: 'min',
    read: ({ deadLetters }) => inSeconds(deadLetters?.oldestParkedAt),
  },
  {
    name: 'posthorn_journal_up',
    help: '1 if the last write to the journal succeeded, or none was due, else 0.',
    aggregator: 'min',
    read: ({ journal }) => journal && Number(journal.ok),
  },
  {
    name: 'posthorn_journal_waiting',
    help: 'Entries that wait to be written to the journal.',
    aggregator: 'sum',
    read: ({ journal }) => journal?.waiting,
  },
  {
    name: 'posthorn_journal_left_out_bodies',
    help: 'Bodies that were left out of the journal since the start, because too much waited.',
    aggregator: 'sum',
    read: ({ journal }) => journal?.leftOut.bodies,
  },
  {
    name: 'posthorn_journal_left_out_entries',
    help: 'Entries that were left out of the journal since the start, because too much waited.',
    aggregator: 'sum',
    read: ({ journal }) => journal?.leftOut.entries,
  },
  {
    name: 'posthorn_last_delivery_timestamp_seconds',
    help: 'Time of the last authentic delivery.',
    aggregator: 'max',
    read: ({ lastDelivery }) => inSeconds(lastDelivery?.receivedAt),
  },
];

export const healthMetricNames: readonly string[] = metrics.map(({ name }) => name);

type Labels = Readonly<Record<string, string>>;

/** Adds a receiver, with the labels of its values. */
export type AddHealth = (labels: Labels, askHealth: () => Promise<Health>) => void;

/** Creates the metrics of the health of receivers. */
export function createHealthMetrics(register: Registry<RegistryContentType>): AddHealth {
  const receivers: { readonly labels: Labels; readonly health: () => Promise<Health> }[] = [];
  for (const { name, help, aggregator, read } of metrics) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      aggregator,
      labelNames: ['receiver'],
      registers: [register],
      collect: async () => {
        await Promise.all(
          receivers.map(async ({ labels, health }) => setOrRemove(gauge, labels, read(await health()))),
        );
      },
    });
  }
  return (labels, askHealth) => void receivers.push({ labels, health: askedOnce(askHealth) });
}

/** At each scrape one question serves all metrics. */
function askedOnce(askHealth: () => Promise<Health>): () => Promise<Health> {
  let asked: Promise<Health> | undefined;
  return () => {
    asked ??= askHealth().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

function setOrRemove(gauge: Gauge, labels: Labels, value: number | undefined): void {
  // A foreign dead letter may hold a value that gauge.set refuses: it would fail the whole scrape.
  if (value !== undefined && Number.isFinite(value)) gauge.set(labels, value);
  else gauge.remove(labels);
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}
