import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Receiver, Report } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { type CopiedPackage, copyPackage } from '../support/copied-package.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';

/** One build of the package: what its subpaths export. */
interface Build {
  readonly core: typeof import('posthorn');
  readonly node: typeof import('posthorn/node');
  readonly operator: typeof import('posthorn/operator');
  readonly redis: typeof import('posthorn/redis');
  readonly client: typeof import('posthorn/client');
  readonly sandbox: typeof import('posthorn/sandbox');
}

let copied: CopiedPackage;
const builds: Record<string, Build> = {};

beforeAll(async () => {
  copied = copyPackage();
  const require = createRequire(join(copied.project, 'application.js'));
  const load = (path: string) => import(pathToFileURL(join(copied.root, 'dist', path)).href);
  builds.ESM = {
    core: await load('src/index.js'),
    node: await load('adapters/node.js'),
    operator: await load('src/operator/index.js'),
    redis: await load('src/stores/redis/index.js'),
    client: await load('src/service/client/index.js'),
    sandbox: await load('src/service/sandbox/index.js'),
  };
  builds.CommonJS = {
    core: require('posthorn'),
    node: require('posthorn/node'),
    operator: require('posthorn/operator'),
    redis: require('posthorn/redis'),
    client: require('posthorn/client'),
    sandbox: require('posthorn/sandbox'),
  };
});

afterAll(() => copied.remove());
afterEach(() => void vi.unstubAllEnvs());

function buildOf(name: string): Build {
  const build = builds[name];
  if (build === undefined) throw new Error(`no build ${name}`);
  return build;
}

/** Serves a receiver by the adapter of a build until the test ends. */
function serveBy({ node }: Build, receiver: Receiver): Promise<string> {
  onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
  return listenUntilTheEnd(node.toNode(receiver));
}

type ErrorClass = new (...parameters: never[]) => Error;

/** The error classes that a build exports, by name. */
function errorClassesOf({ core, client, sandbox }: Build): [string, ErrorClass][] {
  const exported: [string, unknown][] = Object.entries({ ...core, ...client, ...sandbox });
  return exported.flatMap(([name, value]): [string, ErrorClass][] =>
    isErrorClass(value) ? [[name, value]] : [],
  );
}

function isErrorClass(value: unknown): value is ErrorClass {
  return typeof value === 'function' && value.prototype instanceof Error;
}

/** Arguments with which each of our error classes can be made. */
const ARGUMENTS = ['internal_error', 'a message', []];

test('the two builds are two copies', () => {
  expect(buildOf('ESM').core.PermanentError).not.toBe(buildOf('CommonJS').core.PermanentError);
});

describe.each([
  ['ESM', 'CommonJS'],
  ['CommonJS', 'ESM'],
])('in one process the %s build', (name, otherName) => {
  test(`knows each error of the ${otherName} build by instanceof, as its own class and no other`, () => {
    const classes = errorClassesOf(buildOf(name));
    const others = new Map(errorClassesOf(buildOf(otherName)));
    expect(classes).toHaveLength(17);
    for (const [className] of classes) {
      const error: unknown = Reflect.construct(others.get(className) ?? Object, ARGUMENTS);
      const known = classes.filter(([, type]) => error instanceof type).map(([each]) => each);
      expect(known.sort()).toEqual([...new Set([className, 'PosthornError'])].sort());
    }
  });

  test(`knows errors of classes that are derived from those of the ${otherName} build, and not the reverse`, () => {
    const { PermanentError, PosthornError } = buildOf(name).core;
    class Mine extends buildOf(otherName).core.PermanentError {}
    const mine = new Mine('m');
    expect([mine instanceof PermanentError, mine instanceof PosthornError, mine instanceof Mine]).toEqual([
      true,
      true,
      true,
    ]);
    expect(new PermanentError('m') instanceof Mine).toBe(false);
    for (const value of [undefined, null, 'text', 1, {}, new Error('m'), () => {}]) {
      expect(value instanceof PosthornError).toBe(false);
    }
  });

  test(`parks the event of a PermanentError of the ${otherName} build`, async () => {
    const { createReceiver } = buildOf(name).core;
    const { PermanentError } = buildOf(otherName).core;
    const deadLetters = createMapDeadLetters();
    const receiver = createReceiver({ signingKey: KEY, deadLetters }).on('*', () => {
      throw new PermanentError('no retry helps');
    });
    const event = createEvent('transfer.created');
    const response = await deliver(await serveBy(buildOf(name), receiver), event, { key: KEY });
    expect(await response.json()).toEqual({ outcome: 'parked', id: event.id });
    expect(await deadLetters.get(event.id)).toMatchObject({ id: event.id });
  });

  test(`answers what the adapter of the ${otherName} build refuses as it says`, async () => {
    const reports: Report[] = [];
    const receiver = buildOf(name)
      .core.createReceiver({ signingKey: KEY, maxBodyBytes: 100, deadLetters: createMapDeadLetters() })
      .on('*', () => {})
      .observe((report) => void reports.push(report));
    const url = await serveBy(buildOf(otherName), receiver);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.alloc(200));
        controller.close();
      },
    });
    const headers = { 'x-service-signature': 'a'.repeat(64) };
    const response = await fetch(url, { method: 'POST', body, headers, duplex: 'half' });
    expect([response.status, reports[0]?.code]).toEqual([413, 'body_too_large']);
  });

  test(`shares a memory store with the ${otherName} build: one of them handles an event, the other waits`, async () => {
    const { createMemoryStore } = buildOf(name).core;
    const store = createMemoryStore();
    const handled: string[] = [];
    const urls = await Promise.all(
      [name, otherName].map((each) => {
        const { createReceiver } = buildOf(each).core;
        const receiver = createReceiver({ signingKey: KEY, store, deadLetters: createMapDeadLetters() });
        receiver.on('*', ({ id }) => void handled.push(id));
        return serveBy(buildOf(each), receiver);
      }),
    );
    const events = Array.from({ length: 100 }, () => createEvent('transfer.created'));
    const deliveries = events.flatMap((event) => urls.map((url) => deliver(url, event, { key: KEY })));
    const answers = (await Promise.all(deliveries)).map(async (response) => {
      const { outcome }: { outcome?: unknown } = Object(await response.json());
      return outcome;
    });
    expect((await Promise.all(answers)).sort()).toEqual([
      ...events.map(() => 'duplicate'),
      ...events.map(() => 'processed'),
    ]);
    expect(handled.sort()).toEqual(events.map(({ id }) => id).sort());
  });

  test(`serves the operators of a receiver of the ${otherName} build, with the codes of its errors`, async () => {
    const { createReceiver, DeadLetterError } = buildOf(otherName).core;
    const missing = new DeadLetterError('dead_letters_unavailable', 'the disk is away');
    const deadLetters = { ...createMapDeadLetters(), get: () => Promise.reject(missing) };
    const receiver = createReceiver({ signingKey: KEY, deadLetters }).on('*', () => {});
    const authorize = () => ({ name: 'anna' });
    const operator = buildOf(name).operator.toOperator(receiver, { path: '/operator', authorize });
    const ask = async (path: string) => {
      const answer = await operator(new Request(`http://localhost/operator/api${path}`));
      return [answer.status, await answer.json()];
    };
    expect(await ask('/health')).toMatchObject([200, { store: { ok: true } }]);
    expect(await ask('/dead-letters/evt_1')).toMatchObject([503, { code: 'dead_letters_unavailable' }]);
  });

  test(`warns of a memory store of the ${otherName} build in one of several processes`, async () => {
    vi.stubEnv('NODE_APP_INSTANCE', '1');
    const reports: Report[] = [];
    const { createReceiver } = buildOf(name).core;
    const store = buildOf(otherName).core.createMemoryStore();
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters: createMapDeadLetters() })
      .on('*', () => {})
      .observe((report) => void reports.push(report));
    await deliver(await serveBy(buildOf(name), receiver), createEvent('transfer.created'), { key: KEY });
    expect(reports[0]?.warnings).toEqual([expect.stringMatching(/^memory_store_shared: /)]);
  });
});

/** The builds as a linked package has them: outside of `node_modules`. */
const linked: Record<string, () => Promise<Pick<Build, 'core'>>> = {
  ESM: async () => ({ core: await import(pathToFileURL(join(packageRoot, 'dist/src/index.js')).href) }),
  CommonJS: async () => ({
    core: createRequire(import.meta.url)(join(packageRoot, 'dist/cjs/src/index.js')),
  }),
};

test.each(['ESM', 'CommonJS'])(
  'the %s build prints no frame of its own, installed or linked',
  async (name) => {
    const print = silenced('error');
    for (const { core } of [buildOf(name), await linked[name]?.()].filter((build) => build !== undefined)) {
      print.mockClear();
      const deadLetters = createMapDeadLetters();
      const receiver = core.createReceiver({ signingKey: KEY, deadLetters }).on('*', function book() {
        throw new Error('no booking today');
      });
      await deliver(receiver, createEvent('transfer.created'), { key: KEY });
      expect(print.mock.calls).toEqual([
        [expect.stringMatching(/ \[stack: at (\S+\.)?book \(\S+two-builds\.program\.test\.ts:\d+:\d+\)\]$/)],
      ]);
    }
  },
);

test('no two calls of the builds have the same number on a Redis connection that they share', async () => {
  const calls: string[] = [];
  /** Replies as the scripts do: the server's time, the number of the call, and its result. */
  const redis = {
    status: 'ready',
    async eval(_text: string, _keyCount: number, ...[, , call = '']: string[]): Promise<unknown> {
      calls.push(call);
      return [Date.now(), call, 'done', 'completed'];
    },
    evalsha: (...parameters: [string, number, ...string[]]): Promise<unknown> => redis.eval(...parameters),
    disconnect: (): void => {},
  };
  const lease = { token: 't', leaseMs: 1_000, retentionMs: 1_000 };
  for (const build of Object.values(builds)) {
    const store = build.redis.createRedisStore(redis, { scope: 'two-builds' });
    for (const id of ['1', '2', '3'])
      expect(await store.renew({ ...lease, id })).toEqual({ state: 'completed' });
  }
  expect(calls).toHaveLength(6);
  expect(new Set(calls).size).toBe(6);
});

test.each(['ESM', 'CommonJS'])('the sandbox of the %s build serves its page and its files', async (name) => {
  const sandbox = buildOf(name).sandbox.createSandbox();
  onTestFinished(() => sandbox.close());
  const { url } = await sandbox.listen();
  const html = await (await fetch(url)).text();
  const files = Array.from(html.matchAll(/(?:src|href)="(sandbox\/[^"]+)"/g), ([, path]) => path);
  expect(files).toHaveLength(3);
  for (const path of files) expect((await fetch(`${url}/${path}`)).status).toBe(200);
});
