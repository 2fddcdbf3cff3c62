import { deliver } from '../deliver.ts';
import { PATHS } from './advice.ts';
import { expectEqual } from './answer.ts';
import { type Check, checksOf, type Group } from './case.ts';
import { KEY, transfer } from './delivery.ts';
import type { ServePath } from './platform.ts';

/** The targets that an option `path` must serve, and those that it must not. */
interface Targets {
  readonly served: readonly string[];
  readonly others: readonly string[];
}

const targets: Readonly<Record<string, Targets>> = {
  '/webhooks': {
    served: ['/webhooks', '/webhooks/', '/webhooks?a=b', '/webhooks/?a=/b', '/web%68ooks'],
    others: ['/', '/webhooksmore', '/webhooks/more', '/webhooks//', '/WEBHOOKS', '/other?/webhooks'],
  },
  '/caf%C3%A9/': { served: ['/caf%C3%A9', '/caf%c3%a9/'], others: ['/cafe', '/caf%25C3%25A9'] },
  '/web%20hooks': { served: ['/web%20hooks', '/web%20hooks/?a'], others: ['/web+hooks', '/web'] },
  '/hooks:receive': {
    served: ['/hooks:receive', '/hooks:receive/'],
    others: ['/hooks', '/hooksANYTHING', '/hooks:other', '/hooks::receive', '/hooks%3Areceive'],
  },
  '/:all': { served: ['/:all'], others: ['/all', '/ANYTHING'] },
  '/hooks*': {
    served: ['/hooks*', '/hooks*/', '/hooks%2A'],
    others: ['/hooks', '/hooksANYTHING', '/hooks/more'],
  },
  '/*': { served: ['/*', '/*?a'], others: ['/', '/ANYTHING', '/*/more'] },
  '/a*(b)/c.d-e': { served: ['/a*(b)/c.d-e'], others: ['/ab/c.d-e', '/a*(b)/cxd-e'] },
  '/a%2Fb%25': { served: ['/a%2Fb%25', '/a%2fb%25/'], others: ['/a/b%25', '/a%2Fb'] },
  '/a%3Ab': { served: ['/a%3Ab', '/a%3ab'], others: ['/a:b'] },
};

function serves(servePath: ServePath): Group['checks'] {
  return checksOf(
    Object.fromEntries(
      Object.entries(targets).map(([path, entry]) => [`the option ${path}`, { path, ...entry }]),
    ),
    ({ path, served, others }): Check =>
      async (bench) => {
        const endpoint = await bench.open({}, (receiver) => servePath(receiver, path));
        const send = (target: string) => {
          const { origin } = new URL(endpoint.url);
          return bench.waits.for(
            `the answer for ${target}`,
            deliver(`${origin}${target}`, transfer(), { key: KEY }),
          );
        };
        const statuses: Record<string, number> = {};
        for (const target of [...served, ...others]) statuses[target] = (await send(target)).status;
        const expected = [...served.map((target) => [target, 200]), ...others.map((target) => [target, 404])];
        expectEqual(statuses, Object.fromEntries(expected), 'the statuses of deliveries by their target');
        const urls = endpoint.deliveries.map(({ url }) => url);
        expectEqual(urls, served, 'the url of each delivery');
        expectEqual(endpoint.handled.length, served.length, 'the number of events that were handled');
      },
  );
}

/** One option means the same on every framework. */
export function servedPaths(servePath: ServePath): Group {
  return { name: 'paths', advice: PATHS, checks: serves(servePath) };
}
