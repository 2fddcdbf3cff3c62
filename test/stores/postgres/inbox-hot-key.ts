import type { Pool } from 'pg';
import type { EventData, WebhookEvent } from 'posthorn';
import { createPostgresInbox, type PostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { ampleDeadlines } from '../../support/limits.ts';
import { type Endpoint, type EndpointOptions, openEndpoint } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import type { DatabaseFixture } from './fixture.ts';
import { clientOf } from './pool-client.ts';

// Events of one latest key, which the inboxes of a process handle one after the other.

const AT = '2026-05-04T03:02:01Z';

/** An event of a resource. Those of one instant run in the order of their arrival. */
export const eventOf = (id: string) => ({ ...createEvent('transfer.updated', { id }), created_at: AT });

export const eventsOf = (id: string, count: number) => Array.from({ length: count }, () => eventOf(id));

/** What a process has: a pool of eight connections, of which inboxes take six. */
export function openProcess({ connect }: DatabaseFixture) {
  const pool = connect({ max: 8 });
  const acquired = new Seen<true>();
  const taken = { now: 0, most: 0 };
  pool.on('connect', (client) => void client.on('error', () => {}));
  pool.on('acquire', () => {
    acquired.add(true);
    taken.now += 1;
    taken.most = Math.max(taken.most, taken.now);
  });
  pool.on('release', () => {
    taken.now -= 1;
  });
  return { pool, acquired, taken };
}

/** What has come, and what has run. */
export interface HotEndpoint extends Endpoint {
  readonly come: Seen<string>;
  readonly run: Seen<string>;
}

interface Settings extends EndpointOptions {
  readonly scope?: string;
  readonly isBegun?: boolean;
}

/** A receiver that tells the ids of the events that run or wait, and of those that its handler has run. */
export async function open(
  pool: Pool,
  work: (id: string) => unknown,
  settings: Settings = {},
): Promise<HotEndpoint> {
  const { scope = 'hot-key-test', isBegun = false, ...options } = settings;
  const come = new Seen<string>();
  const run = new Seen<string>();
  const inbox: PostgresInbox<unknown> = isBegun
    ? createPostgresInbox(pool, { scope, begin: clientOf(pool).begin })
    : createPostgresInbox(pool, { scope });
  const endpoint = await openEndpoint(
    { ...ampleDeadlines, maxEventAgeMs: Number.POSITIVE_INFINITY, ...options },
    (receiver) => {
      const handle = async ({ id }: { readonly id: string }): Promise<void> => {
        await work(id);
        run.add(id);
      };
      const once = inbox.once('state', handle, {
        latest: (event: WebhookEvent<'transfer.updated', EventData>) => {
          come.add(event.id);
          return event.data.id;
        },
      });
      receiver.on('transfer.updated', once);
    },
  );
  return { ...endpoint, come, run };
}
