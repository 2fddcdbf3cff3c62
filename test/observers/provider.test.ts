import { createReceiver, type Provider, type Report } from 'posthorn';
import { type LogFields, observeWithLogger } from 'posthorn/logger';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { createEvent, deliver } from 'posthorn/testing';
import { type MetricValue, type MetricValueWithName, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { type AcmeEvent, acme, acmeDelivery, acmeEvent } from '../receiver/provider/senders.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { usePrintedErrors } from '../support/printed-errors.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';
import { useOpenTelemetry } from './opentelemetry-sdk.ts';

const { printed } = usePrintedErrors();

/** A receiver of "acme" with handlers for three patterns, of which one fails. */
function create(members: Partial<Provider<AcmeEvent>> = {}) {
  const deadLetters = createMapDeadLetters();
  const options = { provider: acme(members), signingKey: KEY, deadLetters };
  return createReceiver(options)
    .on(['invoice.paid', 'invoice.*'], () => {}, { name: 'book' })
    .on('push', throwing('no booking today'));
}

async function send(receiver: ReturnType<typeof create>, ...types: readonly string[]): Promise<void> {
  for (const type of types) await receiver.receive(acmeDelivery(acmeEvent(type)));
}

const types = ['invoice.paid', 'invoice.sent', 'push', 'other.created', 'invoice'];

describe('the labels of types', () => {
  async function labelsOf(sent: readonly string[], members?: Partial<Provider<AcmeEvent>>) {
    const reports: Report[] = [];
    const receiver = create(members);
    receiver.observe((report) => reports.push(report));
    await send(receiver, ...sent);
    return reports.map(({ typeLabels }) => `${typeLabels?.type} ${typeLabels?.entity}`);
  }

  test('are the patterns of handlers without a list of types, else "other"', async () => {
    expect(await labelsOf(types)).toEqual([
      'invoice.paid invoice',
      'invoice.* invoice',
      'push push',
      'other other',
      'other other',
    ]);
  });

  test('do not grow with types that nobody listed', async () => {
    const flood = Array.from({ length: 500 }, (_, index) => `flood_${index}.made`);
    expect(new Set(await labelsOf(flood))).toEqual(new Set(['other other']));
    const floodOfPrefix = Array.from({ length: 500 }, (_, index) => `invoice.flood_${index}`);
    expect(new Set(await labelsOf(floodOfPrefix))).toEqual(new Set(['invoice.* invoice']));
  });

  test('"*" and onUnhandled are not labels', async () => {
    const reports: Report[] = [];
    const receiver = createReceiver({ provider: acme(), signingKey: KEY }).on('*', () => {});
    receiver.onUnhandled(() => {}).observe((report) => reports.push(report));
    await receiver.receive(acmeDelivery(acmeEvent('push')));
    expect(reports).toMatchObject([{ typeLabels: { type: 'other', entity: 'other' } }]);
  });
});

describe('metrics of Prometheus', () => {
  async function valuesOf(
    register: Registry,
  ): Promise<readonly (MetricValue<string> & { metric: string })[]> {
    const metrics = await register.getMetricsAsJSON();
    return metrics.flatMap(({ name, values }) =>
      values.map((value: MetricValue<string> | MetricValueWithName<string>) => ({ ...value, metric: name })),
    );
  }

  test('of reports have the name of the provider, and few entities', async () => {
    const register = new Registry();
    const receiver = create().observe(() => {});
    observeWithPrometheus(receiver, { register });
    await send(receiver, ...types, ...Array.from({ length: 100 }, (_, index) => `flood_${index}.made`));
    const values = await valuesOf(register);
    const ofReports = values.filter(({ labels }) => 'provider' in labels);
    expect(new Set(ofReports.map(({ labels }) => labels.provider))).toEqual(new Set(['acme']));
    const counted = values.filter(({ metric }) => metric === 'posthorn_deliveries_total');
    expect(counted.map(({ labels, value }) => `${labels.outcome} ${labels.entity} ${value}`).sort()).toEqual([
      'failed push 1',
      'ignored other 102',
      'processed invoice 2',
    ]);
    const gauges = values.filter(({ labels }) => !('provider' in labels)).map(({ metric }) => metric);
    expect(gauges).toContain('posthorn_store_up');
    expect(gauges).not.toContain('posthorn_deliveries_total');
  });

  test('of a receiver without a provider have that of the default one; counters begin at 0', async () => {
    const register = new Registry();
    observeWithPrometheus(createReceiver({ signingKey: KEY }), { register });
    const values = await valuesOf(register);
    expect(values.find(({ metric }) => metric === 'posthorn_endpoint_at_risk_total')).toMatchObject({
      labels: { provider: 'banking-service' },
      value: 0,
    });
  });
});

test('spans and metrics of OpenTelemetry have the name of the provider', async () => {
  const { points, spans } = useOpenTelemetry();
  const receiver = create().observe(() => {});
  observeWithOpenTelemetry(receiver);
  await send(receiver, ...types);
  const processed = spans().filter(({ name }) => name.startsWith('process'));
  expect(processed.map(({ name }) => name)).toEqual([
    'process invoice.paid',
    'process invoice.*',
    'process push',
    'process other',
    'process other',
  ]);
  const named = [...processed, ...(await points())].map(({ attributes }) => attributes['posthorn.provider']);
  expect(new Set(named)).toEqual(new Set(['acme']));
});

describe('lines of logs', () => {
  function fieldsOf(receiver: Parameters<typeof observeWithLogger>[0]): LogFields[] {
    const lines: LogFields[] = [];
    const add = (fields: LogFields): unknown => lines.push(fields);
    observeWithLogger(receiver, { info: add, warn: add, error: add });
    return lines;
  }

  test('name a provider that is not the default one, for strangers too', async () => {
    const receiver = create();
    const lines = fieldsOf(receiver);
    await send(receiver, 'invoice.paid');
    await receiver.receive(acmeDelivery(acmeEvent(), 'another key'));
    await receiver.receive({ ...acmeDelivery(acmeEvent()), headers: {} });
    expect(lines).toMatchObject([
      { outcome: 'processed', provider: 'acme' },
      { code: 'signature_mismatch', provider: 'acme' },
      { code: 'signature_missing', provider: 'acme' },
    ]);
  });

  test('do not name the default one', async () => {
    const receiver = createReceiver({ signingKey: KEY }).on('*', () => {});
    const lines = fieldsOf(receiver);
    await deliver(receiver, createEvent('transfer.succeeded'), { key: KEY });
    expect(lines).toMatchObject([{ outcome: 'processed' }]);
    expect(JSON.stringify(lines)).not.toContain('provider');
  });

  test('of the default log have it after the status', async () => {
    const receiver = create();
    await send(receiver, 'push', 'new.type');
    await receiver.receive(acmeDelivery(acmeEvent(), 'another key'));
    expect(printed()).toEqual([
      expect.stringMatching(
        /^posthorn: failed 500 provider=acme event=ev_\d+ type=push attempt=1 handler_failed: /,
      ),
      'posthorn: no handler wants events of the type "new.type": they are answered 200 "ignored" and not sent ' +
        'again. Handle them with on() or onUnhandled(), or have the sender leave them out',
      expect.stringMatching(/^posthorn: rejected 403 provider=acme signature_mismatch: /),
    ]);
  });
});

test('a health has the name of the provider', async () => {
  expect(await create().health()).toMatchObject({ provider: 'acme' });
  expect(await createReceiver({ signingKey: KEY }).health()).toMatchObject({ provider: 'banking-service' });
});
