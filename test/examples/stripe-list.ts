import type { RequestListener } from 'node:http';
import Stripe from 'stripe';

interface ListedEvent {
  readonly id: string;
  readonly created: number;
}

/** Plays Stripe's list of events, `GET /v1/events`: the newest first, in pages. */
export class StripeList {
  /** From the oldest to the newest. */
  readonly events: ListedEvent[] = [];
  /** The cursor of each page that was asked for; the first page has none. */
  readonly cursors: (string | null)[] = [];

  readonly listener: RequestListener = ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
    if (pathname !== '/v1/events') return void response.writeHead(404).end('{}');
    const cursor = searchParams.get('starting_after');
    this.cursors.push(cursor);
    const since = Number(searchParams.get('created[gte]'));
    const listed = this.events.filter(({ created }) => created >= since).reverse();
    const begin = cursor === null ? 0 : listed.findIndex(({ id }) => id === cursor) + 1;
    const end = begin + Number(searchParams.get('limit'));
    const page = { object: 'list', url: pathname, has_more: end < listed.length };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...page, data: listed.slice(begin, end) }));
  };
}

/** Stripe's own client, for a server on this machine. */
export function createStripeClient(origin: string): Stripe {
  const { hostname, port } = new URL(origin);
  return new Stripe('sk_test_none', { protocol: 'http', host: hostname, port, telemetry: false });
}
