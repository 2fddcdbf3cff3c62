import type { Store } from 'posthorn';
import { createPostgresStore } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { type Gate, shutGate } from '../../support/gate.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './fixture.ts';

const fixture = useDatabase();

const HOT_EVENTS = 200;
const OTHER_EVENTS = 50;
const CLIENTS = 5;

/** An event of a resource, which is its key. */
const eventOf = (id: string) => createEvent('transfer.updated', { id });

/** A process with few clients of the database. */
async function openProcess(gate: Gate) {
  const claims = new Seen<string>();
  const inner = createPostgresStore(fixture.connect({ max: CLIENTS }), { scope: 'hot-key', ...ampleTime });
  const store: Store = {
    ...inner,
    claim: async (request) => {
      const result = await inner.claim(request);
      claims.add(request.id);
      return result;
    },
  };
  const { send } = await openEndpoint({ store, ...ampleDeadlines }, (receiver) =>
    receiver.on('*', ({ data }) => (data.id === 'hot' ? gate.pass() : undefined), {
      name: 'book',
      concurrencyKey: ({ data }) => String(data.id),
    }),
  );
  return { claims, send };
}

test.each(['this process', 'another process'])(
  '200 deliveries that wait for a key of %s keep none of 50 others',
  async (place) => {
    const gate = shutGate();
    const { claims, send } = await openProcess(gate);
    const owner = place === 'this process' ? { send } : await openProcess(gate);
    const running = owner.send(eventOf('hot'));
    await gate.held.nth(1);
    const hot = Array.from({ length: HOT_EVENTS }, () => eventOf('hot'));
    const answers = hot.map((event) => send(event));
    await until('all of them are claimed', () => hot.every(({ id }) => claims.all.includes(id)));
    const others = Array.from({ length: OTHER_EVENTS }, (_, index) => send(eventOf(`other_${index}`)));
    for (const answer of others) expect(await answer).toHaveProperty('status', 200);
    expect(gate.held.all).toHaveLength(1);
    gate.open();
    for (const answer of [running, ...answers]) expect(await answer).toHaveProperty('status', 200);
  },
);
