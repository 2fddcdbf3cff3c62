import type { Pool, PoolClient } from 'pg';
import { createMemoryStore, type DeadLetters, type Report, type Store } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresStore,
  migratePostgres,
} from 'posthorn/postgres';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Gate } from '../../support/gate.ts';
import {
  type Answer,
  type Endpoint,
  type EndpointOptions,
  eventAt,
  openEndpoint,
} from '../../support/open-endpoint.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { usePostgres } from './fixture.ts';
import { book, bookings, createLedger } from './ledger.ts';
import { mayMount, useSmallDisk } from './small-disk.ts';

const scope = 'faults';
/** A server takes some of it to end, while a handler runs. */
const DEADLINE_MS = 8_000;
/**
 * An inbox gives up shortly before the deadline by the clock of its receiver; the delivery does at the
 * deadline, whatever that clock says. Behind it, there is time for a busy machine to say why.
 */
const clockBehind = (): number => Date.now() - 4_000;
/** What a busy machine takes to send and to read. */
const TRANSPORT_MS = 6_000;

type Event = ReturnType<typeof eventAt>;

/** What goes wrong with a server or a pool, and what rights it again; the receiver is told of neither. */
interface Trouble {
  /** The pool of the receivers. */
  readonly pool: Pool;
  /** The server's, for looking at the ledger. */
  readonly ledger: Pool;
  readonly inflict: (events: readonly Event[]) => unknown;
  readonly mend: () => unknown;
  /** How the delivery is answered whose handler was running. */
  readonly running: { readonly status: number };
}

const committed = { status: 200, body: { outcome: 'processed' } };
const failed = { status: 500, body: { code: 'handler_failed' } };
const late = { status: 503, body: { code: 'deadline_reached' } };

const canMount = mayMount();
if (!canMount)
  process.stderr.write('\n!!! A TEST IS SKIPPED: a full disk needs the right to mount one (root)\n\n');

describe('PostgreSQL in trouble', () => {
  const fixture = usePostgres();
  beforeAll(() => createLedger(fixture.connect()));

  const troubles: Record<string, () => Promise<Trouble>> = {
    'has a pool of which others keep all clients': async () => {
      const pool = fixture.connect({ max: 3 });
      const taken: Promise<PoolClient>[] = [];
      return {
        pool,
        ledger: fixture.connect(),
        // The last of them waits for that of the running handler.
        inflict: () => {
          for (let count = 0; count < 3; count += 1) taken.push(pool.connect());
        },
        mend: async () => {
          for (const client of await Promise.all(taken)) client.release();
        },
        running: committed,
      };
    },
    'is frozen': async () => ({
      pool: fixture.connect(),
      ledger: fixture.connect(),
      inflict: () => fixture.postgres.freeze(),
      mend: () => fixture.postgres.thaw(),
      running: late,
    }),
    'is shut down': async () => ends('fast'),
    crashes: async () => ends('immediate'),
    'is killed': async () => ends('kill'),
    'has rows that somebody else has locked': async () => {
      const holder = await fixture.connect().connect();
      return {
        pool: fixture.connect(),
        ledger: fixture.connect(),
        inflict: async (events) => {
          await holder.query('begin');
          for (const { id } of events) {
            await holder.query(
              `insert into posthorn.events (scope, key, first_expires_at, expires_at) values ($1, $2, now(), now())`,
              [scope, id],
            );
            await holder.query(`insert into posthorn.inbox values ($1, $2, 'book')`, [scope, id]);
          }
        },
        mend: async () => {
          await holder.query('rollback');
          holder.release();
        },
        running: committed,
      };
    },
    ...(canMount && { 'has a full disk for its log': fullDisk }),
  };

  function ends(mode: 'fast' | 'immediate' | 'kill'): Trouble {
    return {
      pool: fixture.connect(),
      ledger: fixture.connect(),
      inflict: () => fixture.postgres.stop(mode),
      mend: () => fixture.postgres.restart(),
      running: failed,
    };
  }

  async function fullDisk(): Promise<Trouble> {
    const server = await fixture.servers.single({ fsync: 'on' });
    const disk = await useSmallDisk(server);
    onTestFinished(disk.remove);
    const ledger = fixture.connect({ port: server.port });
    await migratePostgres(ledger);
    await createLedger(ledger);
    return {
      pool: fixture.connect({ port: server.port }),
      ledger,
      inflict: () => disk.fill(),
      mend: async () => {
        disk.free();
        // It gives up once it cannot even end its recovery.
        await server.stop('kill');
        await server.restart();
      },
      running: failed,
    };
  }

  /** A receiver whose handler books, in a transaction of an inbox, after its gate. */
  async function open(pool: Pool, store: Store, options: EndpointOptions = {}) {
    const gate = new Gate();
    const endpoint = await openEndpoint({ store, deadlineMs: DEADLINE_MS, ...options }, (receiver) => {
      receiver.on(
        'transfer.succeeded',
        createPostgresInbox(pool, { scope }).once('book', async (event, { transaction }) => {
          await book(event, transaction);
          await gate.pass();
        }),
      );
    });
    return { ...endpoint, gate };
  }

  const storeOn = (pool: Pool): Store => createPostgresStore(pool, { scope, commandTimeoutMs: 2_500 });

  test.each(Object.keys(troubles))(
    'every delivery is answered rightly and in time while it %s',
    async (name) => {
      const trouble = await troubles[name]?.();
      if (trouble === undefined) throw new Error('no such trouble');
      const { pool, ledger, inflict, mend, running } = trouble;
      const letters = { store: temporaryDeadLetters(), inbox: temporaryDeadLetters() };
      const withStore = await open(pool, storeOn(pool), { deadLetters: letters.store });
      const withInbox = await open(pool, createMemoryStore(), {
        deadLetters: letters.inbox,
        now: clockBehind,
      });
      const busy = await open(pool, storeOn(pool));
      const now = Date.now();
      const [refused, failing, begun] = [eventAt(now), eventAt(now), eventAt(now)];
      const [final, finalOfInbox] = [eventAt(now - 1_000_000), eventAt(now - 1_000_000)];
      expect((await withStore.send(eventAt(now))).status).toBe(200);

      busy.gate.shut();
      const ofBegun = timed(busy.send(begun));
      await busy.gate.held.nth(1);
      await inflict([refused, failing, final, finalOfInbox]);
      const others = [
        timed(withStore.send(refused)),
        timed(withStore.send(final)),
        timed(withInbox.send(failing)),
        timed(withInbox.send(finalOfInbox)),
      ];
      busy.gate.open();
      const answers = await Promise.all([...others, ofBegun]);
      expect(answers).toMatchObject([
        { status: 503, body: { code: 'store_unavailable' } },
        { status: 200, body: { outcome: 'parked' } },
        failed,
        { status: 200, body: { outcome: 'parked' } },
        running,
      ]);
      for (const { durationMs } of answers) expect(durationMs).toBeLessThan(DEADLINE_MS + TRANSPORT_MS);

      await mend();
      const retries: readonly [Endpoint, Event][] = [
        [withStore, refused],
        [withInbox, failing],
        [busy, begun],
      ];
      for (const [{ send }, event] of retries) {
        await until('the retry is handled', async () => (await send(event)).status === 200);
      }
      await replay(withStore, letters.store, final);
      await replay(withInbox, letters.inbox, finalOfInbox);
      for (const event of [refused, failing, begun, final, finalOfInbox]) {
        expect(await bookings(ledger, event)).toBe(1);
      }
    },
  );

  test.each([
    {
      trouble: 'is killed',
      inflict: () => fixture.postgres.stop('kill'),
      mend: () => fixture.postgres.restart(),
    },
    { trouble: 'is frozen', inflict: () => fixture.postgres.freeze(), mend: () => fixture.postgres.thaw() },
  ])(
    'a last attempt whose letters are there, too, is refused while it $trouble',
    async ({ inflict, mend }) => {
      const pool = fixture.connect();
      const letters = createPostgresDeadLetters(pool, { scope });
      const endpoint = await open(pool, storeOn(pool), { deadLetters: letters });
      const { send, reports } = endpoint;
      const event = eventAt(Date.now() - 1_000_000);
      expect((await send(eventAt(Date.now()))).status).toBe(200);
      await inflict();
      const answer = await timed(send(event));
      expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
      expect(answer.durationMs).toBeLessThan(DEADLINE_MS + TRANSPORT_MS);
      const report: Report | undefined = reports.all[1];
      expect(report).toMatchObject({ outcome: 'failed', endpointAtRisk: true });
      expect(report?.warnings.join()).toContain('dead_letter');
      await mend();
      await until('it is accepted when it comes again', async () => (await send(event)).status === 200);
      // What a dead connection of the pool has failed is parked.
      await replay(endpoint, letters, event);
      expect(await bookings(fixture.connect(), event)).toBe(1);
    },
  );

  describe('with onStoreFailure: process, an event that nobody has claimed is booked once', () => {
    const onStoreFailure = 'process';

    test('while the store is killed, and the inbox is on a server that lives', async () => {
      const server = await fixture.servers.single();
      const pool = fixture.connect({ port: server.port });
      await migratePostgres(pool);
      await createLedger(pool);
      const storePool = fixture.connect();
      const openOne = () => open(pool, storeOn(storePool), { onStoreFailure });
      const [one, other, late] = [await openOne(), await openOne(), await openOne()];
      const event = eventAt(Date.now());
      expect((await one.send(eventAt(Date.now()))).status).toBe(200);

      await fixture.postgres.stop('kill');
      one.gate.shut();
      const ofOne = one.send(event);
      await one.gate.held.nth(1);
      const ofOther = other.send(event);
      await until('the other run waits for the record', () => waitsForLock(pool));
      one.gate.open();
      expect(await Promise.all([ofOne, ofOther])).toMatchObject([committed, committed]);
      expect(await late.send(event)).toMatchObject(committed);
      expect([...other.reports.all, ...late.reports.all]).toMatchObject([
        unclaimedAndSkipped,
        unclaimedAndSkipped,
      ]);

      await fixture.postgres.restart();
      const restarted = await openOne();
      await until('the store has the completion', async () => {
        const { body } = await restarted.send(event);
        return JSON.stringify(body).includes('duplicate');
      });
      expect(await bookings(pool, event)).toBe(1);
    });

    test('after the server was killed that has both, the store and the inbox', async () => {
      const pool = fixture.connect();
      const deadLetters = temporaryDeadLetters();
      const endpoint = await open(pool, storeOn(pool), { onStoreFailure, deadLetters });
      const { gate, send, reports } = endpoint;
      const now = Date.now();
      const [begun, fresh, final] = [eventAt(now), eventAt(now), eventAt(now - 1_000_000)];
      gate.shut();
      const ofBegun = send(begun);
      await gate.held.nth(1);
      await fixture.postgres.stop('kill');
      gate.open();
      const answers = await Promise.all([ofBegun, send(fresh), send(final)]);
      expect(answers).toMatchObject([failed, failed, { status: 200, body: { outcome: 'parked' } }]);
      const { warnings } = await reports.first((report) => report.event?.id === fresh.id);
      expect(warnings.join()).toContain('claimed_nothing');

      await fixture.postgres.restart();
      for (const event of [begun, fresh]) {
        await until('the retry is handled', async () => (await send(event)).status === 200);
      }
      await replay(endpoint, deadLetters, final);
      for (const event of [begun, fresh, final]) expect(await bookings(pool, event)).toBe(1);
    });
  });
});

/** Handled by another run, which the inbox remembers where the store cannot. */
const unclaimedAndSkipped = {
  outcome: 'processed',
  warnings: expect.arrayContaining([expect.stringContaining('claimed_nothing')]),
  handlers: [{ skipped: 'handled_before' }],
};

async function waitsForLock(pool: Pool): Promise<boolean> {
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock'";
  return (await pool.query(waiting)).rowCount !== 0;
}

async function timed(answer: Promise<Answer>): Promise<Answer & { readonly durationMs: number }> {
  const startedAt = performance.now();
  return { ...(await answer), durationMs: performance.now() - startedAt };
}

function temporaryDeadLetters(): DeadLetters {
  const directory = temporaryDirectory();
  return createFileDeadLetters(directory);
}

/**
 * Replays the letter of an event until it is handled. A run that goes on after its answer keeps the letter as
 * one that may be running, then changes it, or takes it out where it succeeds: so it is read for each replay.
 */
async function replay({ receiver }: Endpoint, letters: DeadLetters, { id }: Event): Promise<void> {
  let last = 'none';
  const isHandled = async (): Promise<boolean> => {
    const letter = await letters.get(id);
    if (letter === undefined) return true;
    const { outcome, error } = await receiver.replay(letter);
    last = `${outcome} ${error?.code}`;
    return outcome === 'processed' || outcome === 'duplicate';
  };
  const isHandledByNow = (): Promise<boolean> =>
    isHandled().catch((error: unknown) => {
      // The letters are read over a connection that has died, too.
      last = String(error);
      return false;
    });
  await until(() => `the letter is handled; the last replay: ${last}`, isHandledByNow);
}
