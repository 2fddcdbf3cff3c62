import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore, createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { createClient } from 'posthorn/client';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toFetch } from 'posthorn/fetch';
import { toKoa } from 'posthorn/koa';
import { toNode } from 'posthorn/node';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { createPostgresDeadLetters, createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createSandbox, defaultCredentials } from 'posthorn/sandbox';
import { createSqliteDeadLetters, createSqliteInbox, createSqliteStore } from 'posthorn/sqlite';
import { adapterConformance } from 'posthorn/testing';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { readOptions as readReceiverOptions } from '../../src/receiver/settings.ts';
import { readClientOptions } from '../../src/service/client/options.ts';
import { readSandboxOptions } from '../../src/service/sandbox/options.ts';
import { mountOnNode } from '../adapters/mounts.ts';
import { packageRoot } from '../support/child-program.ts';

const page = readFileSync(join(packageRoot, 'docs/options.md'), 'utf8');
const redis = { status: 'ready', eval: async () => [], evalsha: async () => [], disconnect: () => {} };

const pool = { totalCount: 0, connect: () => Promise.reject(new Error('never called')) };
const database = { exec: () => {}, prepare: () => {} };
const dynamo = { send: () => {}, config: { serviceId: 'DynamoDB' } };
const binding = { prepare: () => {}, batch: () => {} };
const worker = createReceiver({ signingKey: 'k' });

/** What is called with options, by its name. */
const functions: ReadonlyMap<string, (options: object) => unknown> = new Map<
  string,
  (options: object) => unknown
>([
  ['createReceiver', (options) => Reflect.apply(createReceiver, undefined, [options])],
  ['createMemoryStore', createMemoryStore],
  ['createRedisStore', (options) => Reflect.apply(createRedisStore, undefined, [redis, options])],
  ['createRedisDeadLetters', (options) => Reflect.apply(createRedisDeadLetters, undefined, [redis, options])],
  ['createPostgresStore', (options) => Reflect.apply(createPostgresStore, undefined, [pool, options])],
  ['createPostgresInbox', (options) => Reflect.apply(createPostgresInbox, undefined, [pool, options])],
  [
    'createPostgresDeadLetters',
    (options) => Reflect.apply(createPostgresDeadLetters, undefined, [pool, options]),
  ],
  ['createSqliteStore', (options) => Reflect.apply(createSqliteStore, undefined, [database, options])],
  ['createSqliteInbox', (options) => Reflect.apply(createSqliteInbox, undefined, [database, options])],
  [
    'createSqliteDeadLetters',
    (options) => Reflect.apply(createSqliteDeadLetters, undefined, [database, options]),
  ],
  ['createD1Store', (options) => Reflect.apply(createD1Store, undefined, [binding, options])],
  ['createD1DeadLetters', (options) => Reflect.apply(createD1DeadLetters, undefined, [binding, options])],
  ['createDynamoStore', (options) => Reflect.apply(createDynamoStore, undefined, [dynamo, options])],
  [
    'createDynamoDeadLetters',
    (options) => Reflect.apply(createDynamoDeadLetters, undefined, [dynamo, options]),
  ],
  ['createBullQueue', (options) => Reflect.apply(createBullQueue, undefined, [options])],
  ['createBullWorker', (options) => Reflect.apply(createBullWorker, undefined, [worker, options])],
  ['toNode', (options) => toNode(createReceiver({ signingKey: 'k' }), options)],
  ['toExpress', (options) => toExpress(createReceiver({ signingKey: 'k' }), options)],
  ['toFetch', (options) => toFetch(createReceiver({ signingKey: 'k' }), options)],
  [
    'toFastify',
    (options) => Reflect.apply(toFastify, undefined, [createReceiver({ signingKey: 'k' }), options]),
  ],
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
    const scoped = { createRedisStore: 'scope', createRedisDeadLetters: 'scope' };
    const inPostgres = {
      createPostgresStore: 'scope',
      createPostgresDeadLetters: 'scope',
      createPostgresInbox: 'scope',
    };
    const inSqlite = {
      createSqliteStore: 'scope',
      createSqliteDeadLetters: 'scope',
      createSqliteInbox: 'scope',
    };
    const inD1 = { createD1Store: 'scope', createD1DeadLetters: 'scope' };
    const inDynamo = { createDynamoStore: 'table,scope', createDynamoDeadLetters: 'table,scope' };
    const queues = { createBullQueue: 'connection,scope', createBullWorker: 'connection,scope' };
    const options = new Map(
      Object.entries({ ...required, ...scoped, ...inPostgres, ...inSqlite, ...inD1, ...inDynamo, ...queues }),
    );
    for (const [name, call] of functions) {
      const needed = [...tableOf(name)].flatMap(([option, value]) => (value === 'required' ? [option] : []));
      expect(needed.join(), name).toBe(options.get(name) ?? '');
      const message = messageOf(() => call({}));
      expect(message, name).toMatch(options.get(name)?.split(',')[0] ?? /^nothing was thrown$/);
    }
  });

  test('has the defaults of createReceiver', () => {
    const settings = readReceiverOptions({ signingKey: 'k' }, createMemoryStore);
    const table = tableOf('createReceiver');
    for (const [option, value] of Object.entries(settings)) {
      if (typeof value === 'number' && Number.isFinite(value) && option !== 'maxEventAgeMs')
        expect(table.get(option), option).toBe(value.toLocaleString('en-US'));
      if (typeof value === 'string') expect(table.get(option), option).toBe(`\`'${value}'\``);
    }
    const delays = settings.retryScheduleMs.map((delay) => delay.toLocaleString('en-US'));
    expect(table.get('retryScheduleMs')).toBe(delays.join(', '));
    const { retentionMs, maxEventAgeMs } = readReceiverOptions(
      { signingKey: 'k', retentionMs: 9_000_000 },
      createMemoryStore,
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

  test('has the defaults of the others', () => {
    const { commandTimeoutMs } = createRedisStore(redis, { scope: 'a' });
    expect(tableOf('createRedisStore').get('commandTimeoutMs')).toBe(
      commandTimeoutMs?.toLocaleString('en-US'),
    );
    const postgresStore = createPostgresStore(pool, { scope: 'a' });
    expect(tableOf('createPostgresStore').get('commandTimeoutMs')).toBe(
      postgresStore.commandTimeoutMs?.toLocaleString('en-US'),
    );
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
