import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore, createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { createClient } from 'posthorn/client';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toFetch } from 'posthorn/fetch';
import { toKoa } from 'posthorn/koa';
import { toNode } from 'posthorn/node';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { toOperator } from 'posthorn/operator';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { createSandbox, defaultCredentials } from 'posthorn/sandbox';
import { adapterConformance } from 'posthorn/testing';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { defaults } from '../../src/create-receiver.ts';
import { serviceParts } from '../../src/providers/banking-service/service.ts';
import { readOptions as readReceiverOptions } from '../../src/receiver/settings.ts';
import { readClientOptions } from '../../src/service/client/options.ts';
import { readSandboxOptions } from '../../src/service/sandbox/options.ts';
import { readJournalOptions } from '../../src/stores/kit/journal/journal-options.ts';
import { stores } from '../../src/stores/list.ts';
import { mountOnNode } from '../adapters/mounts.ts';
import { silentStores } from '../stores/kit/silent-stores.ts';
import { packageRoot } from '../support/child-program.ts';

const page = readFileSync(join(packageRoot, 'docs/options.md'), 'utf8');
/** The functions of the stores, by their names, with the options that they require. */
const ofStores = silentStores.flatMap(({ listed, place, ...silent }) => {
  const functions: readonly [string | undefined, ((options: object) => unknown) | undefined][] = [
    [listed.store, silent.createStore],
    [listed.deadLetters, silent.createDeadLetters],
    [listed.inbox, silent.createInbox],
    [listed.journal, silent.createJournal],
  ];
  return functions.flatMap(([name, call]) =>
    name === undefined || call === undefined ? [] : [{ name, call, required: Object.keys(place).join() }],
  );
});

const worker = createReceiver({ signingKey: 'k' });

/** What is called with options, by its name. */
const functions: ReadonlyMap<string, (options: object) => unknown> = new Map<
  string,
  (options: object) => unknown
>([
  ['createReceiver', (options) => Reflect.apply(createReceiver, undefined, [options])],
  ['on', (options) => createReceiver({ signingKey: 'k' }).on('*', () => {}, options)],
  ['createMemoryStore', createMemoryStore],
  ...ofStores.map(({ name, call }) => [name, call] as const),
  ['createBullQueue', (options) => Reflect.apply(createBullQueue, undefined, [options])],
  ['createBullWorker', (options) => Reflect.apply(createBullWorker, undefined, [worker, options])],
  ['toNode', (options) => toNode(createReceiver({ signingKey: 'k' }), options)],
  ['toExpress', (options) => toExpress(createReceiver({ signingKey: 'k' }), options)],
  ['toFetch', (options) => toFetch(createReceiver({ signingKey: 'k' }), options)],
  [
    'toFastify',
    (options) => Reflect.apply(toFastify, undefined, [createReceiver({ signingKey: 'k' }), options]),
  ],
  ['toOperator', (options) => Reflect.apply(toOperator, undefined, [worker, options])],
  ['toKoa', (options) => toKoa(createReceiver({ signingKey: 'k' }), options)],
  [
    'observeWithOpenTelemetry',
    (options) => observeWithOpenTelemetry(createReceiver({ signingKey: 'k' }), options),
  ],
  [
    'observeWithPrometheus',
    (options) => observeWithPrometheus(worker, { register: new Registry(), ...options }),
  ],
  ['createClient', (options) => Reflect.apply(createClient, undefined, [options])],
  ['createSandbox', createSandbox],
  ['adapterConformance', (options) => adapterConformance(mountOnNode, options)],
]);

/** The table of a function: the default of each option, as it is written. */
function tableOf(name: string): Map<string, string> {
  const [, section = ''] = page.split(new RegExp(`^## ${name}$`, 'm'));
  const [text = ''] = section.split(/^## /m);
  const rows = text.matchAll(/^\| `(\w+)` \| (.*?) \| (.+) \|$/gm);
  return new Map(Array.from(rows, ([, option = '', value = '']) => [option, value]));
}

function messageOf(call: () => unknown): string {
  try {
    call();
    return 'nothing was thrown';
  } catch (error) {
    return String(error);
  }
}

describe('docs/options.md', () => {
  test.each([...functions])('has each option of %s, in the order of its error', (name, call) => {
    const names = messageOf(() => call({ noOption: true })).replace(/^.*its options are /s, '');
    expect([...tableOf(name).keys()].join(', ')).toBe(names);
  });

  test('calls required what is required, and nothing else', () => {
    const required = { createReceiver: 'signingKey', toFastify: 'path', createClient: 'baseUrl' };
    const operator = { toOperator: 'path,authorize' };
    const queues = { createBullQueue: 'connection,scope', createBullWorker: 'connection,scope' };
    const options = new Map([
      ...Object.entries({ ...required, ...operator, ...queues }),
      ...ofStores.map((one) => [one.name, one.required] as const),
    ]);
    for (const [name, call] of functions) {
      const needed = [...tableOf(name)].flatMap(([option, value]) => (value === 'required' ? [option] : []));
      expect(needed.join(), name).toBe(options.get(name) ?? '');
      const message = messageOf(() => call({}));
      expect(message, name).toMatch(
        new RegExp(options.get(name)?.replaceAll(',', '|') ?? '^nothing was thrown$'),
      );
    }
  });

  test('has the defaults of createReceiver', () => {
    const settings = readReceiverOptions({ signingKey: 'k' }, defaults);
    const table = tableOf('createReceiver');
    for (const [option, value] of Object.entries(settings)) {
      if (
        typeof value === 'number' &&
        Number.isFinite(value) &&
        !/^maxEventAgeMs$|^maxDeliveryRunMs$/.test(option)
      )
        expect(table.get(option), option).toBe(value.toLocaleString('en-US'));
      if (typeof value === 'string') expect(table.get(option), option).toBe(`\`'${value}'\``);
    }
    const delays = serviceParts.retries.map((delay) => delay.toLocaleString('en-US'));
    expect(table.get('retryScheduleMs')).toBe(delays.join(', '));
    expect(settings.maxDeliveryRunMs).toBe(settings.maxRunMs);
    const { retentionMs, maxEventAgeMs } = readReceiverOptions(
      { signingKey: 'k', retentionMs: 9_000_000 },
      defaults,
    );
    expect([table.get('maxEventAgeMs'), maxEventAgeMs]).toEqual(['`retentionMs`', retentionMs]);
    expect([table.get('now'), settings.now]).toEqual(['`Date.now`', Date.now]);
    expect([table.get('deadLetters'), settings.deadLetters]).toEqual(['none', undefined]);
    expect([table.get('schemas'), settings.schemas.size]).toEqual(['none', 0]);
    expect([table.get('queue'), settings.queue]).toEqual(['none', undefined]);
    expect([table.get('maxRunning'), settings.maxRunning]).toEqual(['none', Number.POSITIVE_INFINITY]);
    expect(table.get('store')).toBe('`createMemoryStore()`');
    expect(Object.keys(settings.store)).toEqual(Object.keys(createMemoryStore()));
    expect(table.get('authentication')).toBe("`{ type: 'NONE' }`");
    expect(() => settings.authentication.check({})).not.toThrow();
  });

  test('has the default of createMemoryStore', async () => {
    const maxEntries = Number(tableOf('createMemoryStore').get('maxEntries')?.replaceAll(',', ''));
    const store = createMemoryStore();
    const times = { leaseMs: 1_000, retentionMs: 1_000_000 };
    const complete = (id: number) => store.complete({ id: String(id), token: 't', ...times });
    const stateOf = async (id: number) => (await store.claim({ id: String(id), token: 'u', ...times })).state;
    for (let id = 0; id < maxEntries; id += 1) await complete(id);
    expect(await stateOf(0)).toBe('completed'); // which makes 1 the least recently used
    await complete(maxEntries);
    expect([await stateOf(0), await stateOf(1)]).toEqual(['completed', 'claimed']);
  });

  test.each(stores.flatMap(({ journal }) => journal ?? []))('has the defaults of %s', (name) => {
    const { scope, ...defaultsOfJournal } = readJournalOptions(name, { scope: 'defaults' });
    for (const [option, value] of Object.entries(defaultsOfJournal)) {
      const shown = typeof value === 'number' ? value.toLocaleString('en-US') : `\`${value}\``;
      expect(tableOf(name).get(option), option).toBe(shown);
    }
  });

  test('has the defaults of the others', () => {
    for (const { listed, place, createStore } of silentStores) {
      const { commandTimeoutMs } = createStore(place);
      expect(tableOf(listed.store).get('commandTimeoutMs'), listed.store).toBe(
        commandTimeoutMs?.toLocaleString('en-US'),
      );
    }
    const { timeoutMs, areas } = readClientOptions({ baseUrl: 'https://a.example' });
    const client = tableOf('createClient');
    expect(client.get('timeoutMs')).toBe(timeoutMs.toLocaleString('en-US'));
    for (const [area, value] of Object.entries(areas))
      expect([client.get(area), value]).toEqual(['none', undefined]);

    const sandbox = tableOf('createSandbox');
    const { credentials, speed, startAt, stateFile, signatureHeader } = readSandboxOptions({});
    expect(sandbox.get('signatureHeader')).toBe(`\`'${signatureHeader}'\``);
    expect([sandbox.get('clock'), sandbox.get('speed')]).toEqual(["`'real'`", String(speed)]);
    expect([sandbox.get('state'), stateFile]).toEqual(['memory', undefined]);
    expect(sandbox.get('startAt')).toBe('now');
    expect(Math.abs(startAt - Date.now())).toBeLessThan(10_000);
    expect(credentials).toEqual(defaultCredentials);
    for (const area of Object.keys(credentials)) expect(sandbox.get(area)).toBe('`defaultCredentials`');
  });
});
