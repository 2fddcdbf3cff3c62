import type { RedisServer, Servers } from './servers.ts';

/** The servers that the snippets of the docs connect to. */
export interface SnippetServers {
  readonly single: RedisServer;
  /** The master behind the Sentinels. */
  readonly master: RedisServer;
  readonly url: string;
  /** Puts the addresses of the servers in the place of those in a snippet. */
  readonly replaceHosts: (code: string) => string;
}

/** Starts a single Redis, one with Sentinels, and a Cluster. */
export async function startSnippetServers(servers: Servers): Promise<SnippetServers> {
  const [single, { master, sentinelPorts }, nodes] = await Promise.all([
    servers.single(),
    servers.sentinel(),
    servers.cluster(),
  ]);
  const url = `redis://127.0.0.1:${single.port}`;
  const addresses = new Map([
    [`'127.0.0.1',\n  port: 6379`, `'127.0.0.1',\n  port: ${single.port}`],
    ['redis://127.0.0.1:6379', url],
    hostOf('redis', 6379, single.port),
    ...sentinelPorts.map((port, index) => hostOf(`sentinel-${index + 1}`, 26379, port)),
    ...nodes.map(({ port }, index) => hostOf(`node-${index + 1}`, 6379, port)),
  ]);
  const replaceHosts = (code: string): string =>
    [...addresses].reduce((text, [theirs, ours]) => text.replace(theirs, ours), code);
  return { single, master, url, replaceHosts };
}

function hostOf(name: string, port: number, ours: number): [theirs: string, ours: string] {
  return [`{ host: '${name}', port: ${port} }`, `{ host: '127.0.0.1', port: ${ours} }`];
}
