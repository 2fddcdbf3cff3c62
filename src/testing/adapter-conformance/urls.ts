import { URL_AS_SENT } from './advice.ts';
import { expectAccepted, expectEqual } from './answer.ts';
import { type Check, checksOf, type Group } from './case.ts';
import { signed, transfer } from './delivery.ts';
import { headOf } from './raw-connection.ts';

/** The parts of a request's target around its path. */
interface Target {
  readonly query: string;
  readonly isAbsolute?: boolean;
}

/** `fetch` would drop the "?" of an empty query, and never sends an absolute target. */
function arrives({ query, isAbsolute = false }: Target): Check {
  return async (bench) => {
    const endpoint = await bench.open();
    const { origin, pathname } = new URL(endpoint.url);
    const target = `${isAbsolute ? origin : ''}${pathname}${query}`;
    const event = transfer();
    const { body, headers } = signed(event);
    const head = headOf(endpoint.url, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
    const connection = await bench.connect(endpoint.url);
    connection.write(head.replace(` ${pathname} `, ` ${target} `)).write(body);
    expectAccepted(await connection.answer(), 'processed', event.id);
    const sent = endpoint.deliveries.map(({ url }) => url);
    expectEqual(sent, [`${pathname}${query}`], 'the url of the delivery');
  };
}

/** Each query is spelt as an encoder of it would spell it again. */
export const urls: Group = {
  name: 'url',
  advice: URL_AS_SENT,
  checks: checksOf<Target>(
    {
      'the path alone': { query: '' },
      'a query with percent-encoding': { query: '?token=a%2Fb%20%C3%A9' },
      'an absolute target, which names scheme and host': {
        query: '?next=http%3A%2F%2Fhost',
        isAbsolute: true,
      },
    },
    arrives,
  ),
};

/** Apart, for a platform that hands over a parsed query only. */
export const spelledQueries: Group = {
  name: 'url of a query as it was spelt',
  advice: URL_AS_SENT,
  checks: checksOf<Target>(
    {
      'parameters that are repeated': { query: '?b=1&a=2&b=3' },
      'an empty one': { query: '?' },
      'one that a parser would spell otherwise': { query: '?a&=+%2f;c==d&&e=//host/' },
    },
    arrives,
  ),
};
