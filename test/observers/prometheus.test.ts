import { ConfigurationError, createReceiver, type Receiver } from 'posthorn';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { createEvent } from 'posthorn/testing';
import { register as defaultRegister, Gauge, type OpenMetricsContentType, Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { createLetter } from '../stores/kit/conformance.ts';
import { deliveryOf } from '../support/delivery-of.ts';
import { fakeTime } from '../support/fake-time.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { createMapJournal } from '../support/map-journal.ts';
import { stoppedClock } from '../support/monotonic-clock.ts';
import { openDirectly, openEndpoint } from '../support/open-endpoint.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';
import { bringAboutEveryOutcome } from './every-outcome.ts';
import { type Family, parseExposition, type Sample } from './exposition.ts';

type Labels = Readonly<Record<string, string>>;

/** Scrapes a register over HTTP, as Prometheus does. */
async function scrape(
  register: Registry | Registry<OpenMetricsContentType>,
): Promise<ReadonlyMap<string, Family>> {
  const url = await listenUntilTheEnd(async (_request, response) => {
    response.writeHead(200, { 'content-type': register.contentType }).end(await register.metrics());
  });
  const response = await fetch(`${url}/metrics`);
  expect(response.headers.get('content-type')).toBe(register.contentType);
  return parseExposition(await response.text());
}

function samplesOf(families: ReadonlyMap<string, Family>, name: string, labels: Labels = {}): Sample[] {
  const family = families.get(name.replace(/_(bucket|sum|count)$/, '')) ?? families.get(name);
  return (family?.samples ?? []).filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
}

function totalOf(families: ReadonlyMap<string, Family>, name: string, labels: Labels = {}): number {
  return samplesOf(families, name, labels).reduce((sum, { value }) => sum + value, 0);
}

function countSamples(families: ReadonlyMap<string, Family>): number {
  return [...families.values()].reduce((sum, { samples }) => sum + samples.length, 0);
}

function observe(receiver: Receiver): Registry {
  const register = new Registry();
  observeWithPrometheus(receiver, { register });
  // What is expected to fail here stays out of the log.
  receiver.observe(() => {});
  return register;
}

/** Scrapes a receiver that has met every outcome. */
async function scrapeEveryOutcome(): Promise<ReadonlyMap<string, Family>> {
  let register = new Registry();
  await bringAboutEveryOutcome((receiver) => {
    register = observe(receiver);
  });
  return scrape(register);
}

afterEach(() => defaultRegister.clear());

describe('the metrics of a receiver', () => {
  test('show every outcome, by code and entity', async () => {
    const families = await scrapeEveryOutcome();
    const deliveries = samplesOf(families, 'posthorn_deliveries_total').map(
      ({ labels: { outcome, code, entity }, value }) => `${outcome} ${code} ${entity} ${value}`,
    );
    expect(deliveries.sort()).toEqual([
      'busy event_running settlement 1',
      'duplicate none transfer 1',
      'failed deadline_reached settlement 1',
      'failed handler_failed merchant 2',
      'ignored none payment_instrument 1',
      'parked envelope_invalid other 1',
      'parked handler_failed_permanently dispute 1',
      'processed none transfer 1',
      'queued none subscription 1',
      'rejected signature_mismatch other 1',
    ]);
    expect(totalOf(families, 'posthorn_jobs_total', { outcome: 'processed', entity: 'subscription' })).toBe(
      1,
    );
    expect(totalOf(families, 'posthorn_replays_total', { outcome: 'parked', entity: 'dispute' })).toBe(1);
    expect(totalOf(families, 'posthorn_accepted_total', { outcome: 'duplicate', entity: 'transfer' })).toBe(
      1,
    );
    expect(totalOf(families, 'posthorn_reruns_total', { outcome: 'processed', entity: 'transfer' })).toBe(1);
    expect(totalOf(families, 'posthorn_late_runs_total', { outcome: 'processed' })).toBe(1);
    expect(totalOf(families, 'posthorn_endpoint_at_risk_total')).toBe(1);
    expect(totalOf(families, 'posthorn_delivery_duration_seconds_count')).toBe(11);
    expect(totalOf(families, 'posthorn_delivery_duration_seconds_sum', { outcome: 'busy' })).toBeGreaterThan(
      0.4,
    );
    expect(totalOf(families, 'posthorn_delivery_duration_seconds_sum')).toBeLessThan(30);
  });

  test('time each end of a handler once, also of a late one', async () => {
    const families = await scrapeEveryOutcome();
    const handlers = samplesOf(families, 'posthorn_handler_duration_seconds_count').map(
      ({ labels: { handler, result }, value }) => `${handler} ${result} ${value}`,
    );
    expect(handlers.sort()).toEqual([
      'bill ok 1',
      'book ok 2',
      'onboard failed 2',
      'settle ok 1',
      'unnamed failed 2',
    ]);
  });

  test('time the wait of each handler for its key once, also if a late report repeats it', async () => {
    const held = new HeldHandler();
    let register = new Registry();
    const { reports, send } = await openEndpoint({ deadlineMs: 200 }, (receiver) => {
      register = observe(receiver);
      receiver
        .on('transfer.*', () => {}, { name: 'book', concurrencyKey: () => 'TR_1' })
        .on('transfer.*', held.handle, { name: 'log' });
    });
    expect(await send(createEvent('transfer.created'))).toMatchObject({ status: 503 });
    held.calls.all[0]?.succeed();
    const late = await reports.first((report) => report.late);
    expect(late.handlers).toMatchObject([{ name: 'book', keyWaitMs: expect.any(Number) }, { name: 'log' }]);
    const families = await scrape(register);
    expect(samplesOf(families, 'posthorn_handler_key_wait_seconds_count')).toMatchObject([
      { labels: { handler: 'book' }, value: 1 },
    ]);
    const [book] = late.handlers;
    expect(totalOf(families, 'posthorn_handler_key_wait_seconds_sum')).toBeCloseTo(
      (book?.keyWaitMs ?? 0) / 1_000,
      6,
    );
  });

  test('count warnings by code, each from 0', async () => {
    const warnings = samplesOf(await scrapeEveryOutcome(), 'posthorn_warnings_total');
    const values = Object.fromEntries(warnings.map(({ labels, value }) => [labels.code, value]));
    expect(values).toMatchObject({ lease_lost: 0, dead_letters_missing: 0 });
    expect(values.dead_letter_not_stored).toBeGreaterThan(0);
  });

  test('ask for the health at the scrape, once for all', async () => {
    // A count that took more than 50 ms would be used again.
    stoppedClock();
    const deadLetters = createMapDeadLetters();
    const receiver = createReceiver({ signingKey: KEY, deadLetters }).on('*', () => {});
    const register = observe(receiver);
    let asked = 0;
    const { list } = deadLetters;
    deadLetters.list = (options) => {
      asked += 1;
      return list(options);
    };
    const before = await scrape(register);
    expect(asked).toBe(1);
    expect(totalOf(before, 'posthorn_store_up')).toBe(1);
    expect(totalOf(before, 'posthorn_dead_letters_up')).toBe(1);
    expect(samplesOf(before, 'posthorn_dead_letters')).toMatchObject([{ value: 0 }]);
    expect(samplesOf(before, 'posthorn_runs')).toMatchObject([{ value: 0 }]);
    // What is not known has no sample: 0 would be 1970.
    expect(samplesOf(before, 'posthorn_last_delivery_timestamp_seconds')).toEqual([]);
    expect(samplesOf(before, 'posthorn_dead_letters_oldest_timestamp_seconds')).toEqual([]);

    await receiver.receive(deliveryOf('not JSON'));
    const after = await scrape(register);
    expect(totalOf(after, 'posthorn_dead_letters')).toBe(1);
    for (const name of ['dead_letters_oldest', 'last_delivery']) {
      const age = Date.now() / 1_000 - totalOf(after, `posthorn_${name}_timestamp_seconds`);
      expect(Math.abs(age), name).toBeLessThan(60);
    }

    for await (const letter of list()) await deadLetters.put({ ...letter, parkedAt: Number.NaN });
    expect(samplesOf(await scrape(register), 'posthorn_dead_letters_oldest_timestamp_seconds')).toEqual([]);
    deadLetters.list = throwing('no disk');
    const failing = await scrape(register);
    expect(totalOf(failing, 'posthorn_dead_letters_up')).toBe(0);
    expect(samplesOf(failing, 'posthorn_dead_letters')).toEqual([]);
  });

  test('tell whether there may be more letters than were counted', async () => {
    const deadLetters = createMapDeadLetters();
    const register = observe(createReceiver({ signingKey: KEY, deadLetters }).on('*', () => {}));
    expect(totalOf(await scrape(register), 'posthorn_dead_letters_more')).toBe(0);
    await deadLetters.put(createLetter({ runningUntil: undefined }));
    deadLetters.count = async () => 1_001;
    const many = await scrape(register);
    expect(totalOf(many, 'posthorn_dead_letters')).toBe(1_000);
    expect(totalOf(many, 'posthorn_dead_letters_more')).toBe(1);
    expect(totalOf(many, 'posthorn_dead_letters_up')).toBe(1);
  });

  test('show a journal that fails, what waits for it, and what was left out', async () => {
    const journal = { ...createMapJournal(), record: throwing('no database') };
    const { receiver, send } = openDirectly({ journal, maxBodyBytes: 20_000_000 });
    const register = observe(receiver);
    const valuesOf = async () => {
      const families = await scrape(register);
      const names = ['up', 'waiting', 'left_out_bodies', 'left_out_entries'];
      return names.map((name) => totalOf(families, `posthorn_journal_${name}`));
    };
    expect(await valuesOf()).toEqual([1, 0, 0, 0]);
    const pass = fakeTime();
    await send(Buffer.alloc(17_000_000, 'not JSON'));
    await send(createEvent('transfer.created'));
    await pass(500);
    expect(await valuesOf()).toEqual([0, 2, 1, 0]);
  });

  test('have no series of dead letters or a journal where there are none', async () => {
    const families = await scrape(observe(createReceiver({ signingKey: KEY })));
    expect(samplesOf(families, 'posthorn_dead_letters_up')).toEqual([]);
    expect(samplesOf(families, 'posthorn_dead_letters')).toEqual([]);
    expect(samplesOf(families, 'posthorn_journal_up')).toEqual([]);
    expect(samplesOf(families, 'posthorn_store_up')).toMatchObject([{ value: 1 }]);
  });

  test('stay few, and hold no id, after 1,000 strange types and ids', async () => {
    const receiver = createReceiver({ signingKey: KEY, deadLetters: createMapDeadLetters() });
    receiver.on('*', () => {}, { name: 'all' });
    const register = observe(receiver);
    const event = createEvent('transfer.created');
    const send = (type: string, id: string, headers = {}) =>
      receiver.receive(deliveryOf({ ...event, type, id }, headers));
    await send('transfer.created', 'evt_first');
    await send('strange.type', 'evt_strange');
    await send('transfer.created', 'evt_forged', { 'x-service-signature': ['0'.repeat(64)] });
    const before = countSamples(await scrape(register));
    for (let index = 0; index < 1_000; index += 1) {
      const strange = `strange${index}"\n\\{}.type`;
      await send(index % 2 === 0 ? strange : `transfer.${strange}`, `evt_secret_${index}`);
      await send(`forged${index}.type`, 'evt', { 'x-service-signature': ['0'.repeat(64)] });
    }
    const families = await scrape(register);
    expect(countSamples(families)).toBe(before);
    expect(totalOf(families, 'posthorn_deliveries_total')).toBe(2_003);
    expect(await register.metrics()).not.toMatch(/evt_|strange|forged\d|__proto__/);
  });

  test('an entity is one of the catalog itself, and no property of every object', async () => {
    const receiver = createReceiver({ signingKey: KEY }).on('*', () => {});
    const register = observe(receiver);
    for (const type of ['constructor.created', '__proto__.created', 'toString.x']) {
      await receiver.receive(deliveryOf({ ...createEvent('transfer.created'), id: type, type }));
    }
    expect(totalOf(await scrape(register), 'posthorn_deliveries_total', { entity: 'other' })).toBe(3);
  });
});

describe('observeWithPrometheus', () => {
  const create = (): Receiver => createReceiver({ signingKey: KEY });

  test('registers in the register of prom-client by default', async () => {
    observeWithPrometheus(create());
    expect(samplesOf(await scrape(defaultRegister), 'posthorn_store_up')).toHaveLength(1);
  });

  test('gives metrics to a register of OpenMetrics', async () => {
    const register = new Registry<OpenMetricsContentType>();
    register.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const receiver = create();
    observeWithPrometheus(receiver, { register });
    await receiver.receive(deliveryOf('not JSON'));
    expect(await register.metrics()).toMatch(/^posthorn_deliveries_total\{.*\} 1$/m);
  });

  test('receivers with names of their own share a register; a name that is taken is an error', async () => {
    const register = new Registry();
    const named = (name?: string): Receiver => createReceiver({ signingKey: KEY, ...(name && { name }) });
    const [banking, shop, unnamed] = [named('banking'), named('shop'), named()];
    for (const receiver of [banking, shop, unnamed]) observeWithPrometheus(receiver, { register });
    for (const [second, message] of [
      [banking, /has a receiver named "banking" already: .* createReceiver\(\{ name: 'stripe' \}\)/],
      [named('shop'), /has a receiver named "shop" already/],
      [named(), /has a receiver without a name already/],
    ] as const)
      expect(() => observeWithPrometheus(second, { register })).toThrow(message);
    observe(banking);

    await shop.on('*', () => {}).receive(deliveryOf(createEvent('transfer.created')));
    const families = await scrape(register);
    expect(samplesOf(families, 'posthorn_deliveries_total').map(({ labels }) => labels.receiver)).toEqual([
      'shop',
    ]);
    for (const name of [
      'posthorn_store_up',
      'posthorn_endpoint_at_risk_total',
      'posthorn_last_delivery_timestamp_seconds',
    ]) {
      const expected = name.startsWith('posthorn_last') ? ['shop'] : ['banking', 'shop', undefined];
      expect(samplesOf(families, name).map(({ labels }) => labels.receiver)).toEqual(expected);
    }
  });

  test('begins anew in a register that was cleared, and refuses the metrics of another copy', async () => {
    const register = observe(create());
    register.clear();
    observeWithPrometheus(create(), { register });
    expect(samplesOf(await scrape(register), 'posthorn_store_up')).toHaveLength(1);
    const other = new Registry();
    new Gauge({ name: 'posthorn_runs', help: 'of another copy', registers: [other] });
    expect(() => observeWithPrometheus(create(), { register: other })).toThrow(
      /has posthorn_runs already, from another copy .*\{ register: new Registry\(\) \}/,
    );
  });

  test('an error leaves nothing behind in the register', () => {
    const register = new Registry();
    for (const receiver of [undefined, {}, { receive: () => {} }, { observe: () => {} }])
      expect(() => Reflect.apply(observeWithPrometheus, undefined, [receiver, { register }])).toThrow(
        ConfigurationError,
      );
    expect(register.getMetricsAsArray()).toEqual([]);
  });

  test.each([
    [{ register: {} }, /register of observeWithPrometheus must be a register of prom-client/],
    [
      { registry: new Registry() },
      /"registry" is not an option of observeWithPrometheus; its options are register/,
    ],
  ])('takes no %o', (options, message) => {
    expect(() => Reflect.apply(observeWithPrometheus, undefined, [create(), options])).toThrow(message);
  });

  test('a register that throws at each event changes no answer', async () => {
    const register = new Registry();
    const { send } = await openEndpoint({}, (receiver) => {
      observeWithPrometheus(receiver, { register });
      receiver.on('*', () => {});
    });
    for (const metric of register.getMetricsAsArray()) {
      const broken = register.getSingleMetric(metric.name);
      Object.assign(broken ?? {}, {
        inc: throwing('no metrics today'),
        observe: throwing('no metrics today'),
      });
    }
    expect(await send(createEvent('transfer.created'))).toMatchObject({ status: 200 });
  });
});
