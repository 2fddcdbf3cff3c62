import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../support/child-program.ts';
import { readDocument } from '../../support/documents.ts';
import { silenced } from '../../support/silenced.ts';
import { until } from '../../support/until.ts';
import { useRedis } from './fixture.ts';
import { type SnippetServers, startSnippetServers } from './snippet-servers.ts';

// Inside the package, so that the copies find the packages of the clients.
const folder = join(packageRoot, 'dist', 'idle-clients');
/** Modules that export a client, or functions that create one each. */
const sources = [
  ...readDocument('docs/redis.md')
    .blocks.map(({ code }) => code)
    .filter((code) => code.includes('export const redis')),
  readFileSync(join(packageRoot, 'examples', 'redis-clients.ts'), 'utf8'),
];
/** The documented clients of node-redis send a PING every 4 seconds, and give a connection up after 5. */
const SECOND_PING_MS = 8_000;

/** Of all packages: a connection that is lost, or whatever goes wrong with it. */
const EVENTS = ['error', 'close', 'node-error', 'client-error', 'sentinel-error', 'reconnecting'];

interface IdleClient {
  /** Only of ioredis, which connects by itself. */
  readonly status?: string;
  on(event: string, listener: (error?: unknown) => void): unknown;
  disconnect?(): void;
  destroy?(): unknown;
}

describe('an idle client of docs/redis.md and examples/', () => {
  const fixture = useRedis();
  let servers: SnippetServers;

  beforeAll(async () => {
    servers = await startSnippetServers(fixture.servers);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('keeps its connections: alone, through Sentinel and in a Cluster, of each package', async () => {
    const printed = silenced('error');
    const problems: unknown[] = [];
    const clients: IdleClient[] = [];
    for (const [index, code] of sources.entries()) {
      const file = join(folder, `client-${index}.ts`);
      writeFileSync(file, servers.replaceHosts(code));
      const { redis, store, deadLetters, ...functions } = await import(file);
      const created = redis === undefined ? Object.values<() => unknown>(functions).map((f) => f()) : [redis];
      clients.push(...((await Promise.all(created)) as IdleClient[]));
    }
    for (const [index, redis] of clients.entries()) {
      onTestFinished(() => void (redis.destroy ?? redis.disconnect)?.call(redis));
      for (const event of EVENTS) redis.on(event, (error) => problems.push([index, event, error]));
    }
    expect(clients).toHaveLength(6);
    await until('those of ioredis are connected', async () =>
      clients.every(({ status = 'ready' }) => status === 'ready'),
    );
    const idleSince = performance.now();
    // A Sentinel of node-redis connects anew without any event.
    const master = await fixture.connect({ port: servers.master.port });
    const connections = async (): Promise<string[]> =>
      String(await master.client('LIST')).match(/^id=\d+/gm) ?? [];
    const earlier = await connections();
    const watching = await fixture.connect({ port: servers.single.port });
    const pings = async (): Promise<number> =>
      Number(/cmdstat_ping:calls=(\d+)/.exec(await watching.info('commandstats'))?.[1] ?? 0);
    await until(
      'each client of node-redis has sent its second PING',
      async () =>
        problems.length > 0 || ((await pings()) >= 2 && performance.now() > idleSince + SECOND_PING_MS),
    );
    expect(problems).toEqual([]);
    expect(await connections()).toEqual(expect.arrayContaining(earlier));
    expect(printed.mock.calls).toEqual([]);
  });
});
