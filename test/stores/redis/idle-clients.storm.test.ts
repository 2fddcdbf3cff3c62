import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../support/child-program.ts';
import { documents } from '../../support/documents.ts';
import { silenced } from '../../support/silenced.ts';
import { until } from '../../support/until.ts';
import { useRedis } from './fixture.ts';
import { type SnippetServers, startSnippetServers } from './snippet-servers.ts';

// Inside the package, so that the snippets find the packages of the clients.
const folder = join(packageRoot, 'dist', 'idle-clients');
const snippets = documents
  .filter(({ path }) => path === 'docs/redis.md')
  .flatMap(({ blocks }) => blocks.map(({ code }) => code))
  .filter((code) => code.includes('export const redis'));
/** The documented clients of node-redis send a PING every 4 seconds, and give a connection up after 5. */
const SECOND_PING_MS = 8_000;

/** Of all packages: a connection that is lost, or whatever goes wrong with it. */
const EVENTS = ['error', 'close', 'node-error', 'client-error', 'sentinel-error', 'reconnecting'];

interface IdleClient {
  on(event: string, listener: (error?: unknown) => void): unknown;
  disconnect?(): void;
  destroy?(): unknown;
}

describe('an idle client of docs/redis.md', () => {
  const fixture = useRedis();
  let servers: SnippetServers;

  beforeAll(async () => {
    servers = await startSnippetServers(fixture.servers);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('keeps its connections: alone, through Sentinel and in a Cluster, of each package', async () => {
    expect(snippets.map((code) => /(?:new|=) (\w+)\(/.exec(code)?.[1])).toEqual([
      'Redis',
      'Redis',
      'Cluster',
      'createClient',
      'createSentinel',
      'createCluster',
    ]);
    const printed = silenced('error');
    const problems: unknown[] = [];
    for (const [index, code] of snippets.entries()) {
      const file = join(folder, `client-${index}.ts`);
      writeFileSync(file, servers.replaceHosts(code));
      const { redis }: { redis: IdleClient } = await import(file);
      onTestFinished(() => void (redis.destroy ?? redis.disconnect)?.call(redis));
      for (const event of EVENTS) redis.on(event, (error) => problems.push([index, event, error]));
    }
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
