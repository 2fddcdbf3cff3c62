import { randomUUID } from 'node:crypto';
import { createPostgresJournal } from 'posthorn/postgres';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { journalStatements } from '../../../src/stores/postgres/journal/statements.ts';
import { errorOf } from '../../support/error-of.ts';
import { until } from '../../support/until.ts';
import {
  ampleJournal,
  createFullRecord,
  createRecord,
  idsOf,
  START,
  write,
} from '../kit/journal/journal-case.ts';
import { useDatabase } from './fixture.ts';
import { sentBy } from './watched-pool.ts';

const statements = journalStatements('"posthorn"', 5_000);

/** Adds entries of a scope, a millisecond apart, the oldest of them so long ago. */
const insertMany = (scope: string, count: number, agoMs: number, resources = 1): string => `
insert into posthorn.journal (
  scope, key, event_key, id, resource, batches, provider, outcome, first_received_at, last_received_at, decided_at,
  deliveries, attempts, finality, handled
)
select '${scope}', 'key_' || n, 'key_' || n, 'id_' || n, 'r_' || n % ${resources}, array[gen_random_uuid()], 'acme', 'processed',
  extract(epoch from now()) * 1000 - ${agoMs} + n, 0, 0, 1, 1, 4, '{}'
from generate_series(1, ${count}) as n`;

describe('the journal on a server of PostgreSQL', () => {
  const fixture = useDatabase();

  test('is written by several processes at once, which count exactly and never wait for each other', async () => {
    const scope = randomUUID();
    const ids = Array.from({ length: 40 }, (_, index) => `evt_${index}`);
    const journals = Array.from({ length: 6 }, () =>
      createPostgresJournal(fixture.connect({ max: 4 }), { scope, ...ampleJournal }),
    );
    const writes = journals.flatMap((journal, turn) =>
      Array.from({ length: 20 }, async (_, round) => {
        const start = (turn * 7 + round * 3) % ids.length;
        const rotated = [...ids.slice(start), ...ids.slice(0, start)];
        const given = round % 2 === 0 ? rotated : rotated.toReversed();
        await write(journal, ...given.map((id) => createRecord({ id })));
      }),
    );
    await Promise.all(writes);
    const [journal = createPostgresJournal(fixture.connect(), { scope })] = journals;
    for await (const { deliveries } of journal.list()) expect(deliveries).toBe(6 * 20);
    expect((await idsOf(journal)).length).toBe(ids.length);
  });

  test('is written with one statement for a hundred records', async () => {
    const pool = fixture.connect();
    const journal = createPostgresJournal(pool, { scope: randomUUID(), ...ampleJournal });
    const sent = sentBy(pool);
    await write(journal, ...Array.from({ length: 100 }, () => createFullRecord()));
    expect(sent).toEqual([expect.stringContaining('insert into "posthorn".journal ')]);
  });

  test('reads neither bodies nor headers for a list without them, and two hundred entries at once', async () => {
    const pool = fixture.connect();
    const scope = randomUUID();
    await fixture.sql(insertMany(scope, 400, 60_000_000));
    const journal = createPostgresJournal(pool, { scope, ...ampleJournal });
    const sent = sentBy(pool);
    expect((await idsOf(journal, { bodies: false })).length).toBe(400);
    expect(sent).toEqual([statements.lookAt, statements.readWithoutBodies, statements.readWithoutBodies]);
    expect(statements.readWithoutBodies).not.toMatch(/raw_body|headers/);
  });

  describe('with many entries', () => {
    const from = [START, '', START * 2, null, null, null];
    const reads: readonly (readonly [
      name: string,
      sql: string,
      values: readonly unknown[],
      indexes: string[],
    ])[] = [
      ['an entry', statements.find, ['key_5', 'id_5'], ['journal_pkey', 'journal_by_id']],
      ['entries of a list', statements.read, [['key_5', 'key_6']], ['journal_pkey']],
      ['entries without bodies', statements.readWithoutBodies, [['key_5', 'key_6']], ['journal_pkey']],
      ['a list', statements.lookAt, from, ['journal_in_order']],
      ['a resource', statements.lookAtResource, [...from, 'r_5'], ['journal_by_resource']],
    ];

    test.each(reads)('finds %s by an index', async (_name, sql, values, indexes) => {
      const scope = randomUUID();
      await fixture.sql(insertMany(scope, 20_000, 60_000_000, 2_000));
      await fixture.sql('analyze posthorn.journal');
      const { rows } = await fixture.connect().query(`explain ${sql}`, [scope, ...values]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      for (const index of indexes) expect(plan).toContain(index);
      expect(plan).not.toContain('Seq Scan');
      // A step of a list reads no more than its entries.
      if (sql === statements.lookAt)
        expect(plan).toMatch(
          /^Limit.*\n.*Index (Only )?Scan using .*\n +Index Cond: .*first_received_at.*first_received_at/,
        );
    });

    test('finds the old ones by the index, without reading the others', async () => {
      const scope = randomUUID();
      await fixture.sql(insertMany(scope, 20_000, 60_000_000));
      await fixture.sql('analyze posthorn.journal');
      const { rows } = await fixture
        .connect()
        .query(`explain (analyze, buffers off) ${statements.deleteOld}`, [scope, 86_400_000]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/journal_in_order[^\n]*\n\s+Index Cond: .*first_received_at < /);
      expect(plan).not.toContain('Removed by Filter');
    });
  });

  test('deletes what is older than retentionMs, a thousand at a time, as receivers write', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const scope = randomUUID();
    await fixture.sql(insertMany(scope, 2_500, 3_700_000));
    await fixture.sql(insertMany('another', 10, 3_700_000));
    const journal = createPostgresJournal(fixture.connect(), {
      scope,
      ...ampleJournal,
      retentionMs: 3_600_000,
    });
    const young = createRecord({ id: 'young', firstReceivedAt: Date.now() - 3_000_000, deliveries: 0 });
    const { rows } = await fixture.connect().query(statements.deleteOld, [scope, 3_600_000]);
    expect(rows).toEqual([{ deleted: '1000' }]);
    const seen = new Set<number>();
    await until('the old ones are gone', async () => {
      await write(journal, young);
      const left = await fixture.sql(`select count(*) from posthorn.journal where scope = '${scope}'`);
      seen.add(Number(left));
      return seen.has(1);
    });
    expect([1_501, 501, 1]).toEqual(expect.arrayContaining([...seen]));
    expect(await idsOf(journal)).toEqual(['young']);
    expect(await fixture.sql("select count(*) from posthorn.journal where scope = 'another'")).toBe('10');
  });

  test('does not wait for a locked table, and counts a batch once that came through later', async () => {
    const scope = randomUUID();
    const pool = fixture.connect();
    // The journal gives up the wait for a connection too, and then sends nothing.
    const opened = await Promise.all(Array.from({ length: 6 }, () => pool.connect()));
    for (const client of opened) client.release();
    const locking = await pool.connect();
    await locking.query('begin; lock table posthorn.journal in access exclusive mode');
    const journal = createPostgresJournal(pool, { ...ampleJournal, scope, commandTimeoutMs: 300 });
    const late = errorOf(
      'journal_unavailable',
      `the journal of ${scope} in PostgreSQL failed: PostgreSQL gave no`,
    );
    const batch = { batchId: randomUUID(), records: [createRecord({ id: 'evt' })] };
    await expect(journal.record(batch)).rejects.toMatchObject(late);
    await expect(journal.get('evt')).rejects.toMatchObject(late);
    await expect(idsOf(journal)).rejects.toMatchObject(late);
    await expect(journal.prune({ olderThanMs: 1e300 })).rejects.toMatchObject(late);
    await locking.query('rollback');
    locking.release();
    const patient = createPostgresJournal(pool, { scope, ...ampleJournal });
    await until('the late statement came through', async () => (await patient.get('evt')) !== undefined);
    await patient.record(batch);
    expect(await patient.get('evt')).toMatchObject({ deliveries: 1 });
  });

  test('leaves no process behind that waits for a locked row', async () => {
    const scope = randomUUID();
    const pool = fixture.connect();
    const journal = createPostgresJournal(pool, { ...ampleJournal, scope, commandTimeoutMs: 400 });
    await write(createPostgresJournal(pool, { scope, ...ampleJournal }), createRecord({ id: 'evt' }));
    const locking = await pool.connect();
    await locking.query(`begin; select from posthorn.journal where scope = '${scope}' for update`);
    await expect(write(journal, createRecord({ id: 'evt' }))).rejects.toMatchObject({
      code: 'journal_unavailable',
    });
    await until('nothing waits', async () => {
      const waiting =
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      return (await fixture.sql(waiting)) === '0';
    });
    await locking.query('rollback');
    locking.release();
    const { deliveries } = (await createPostgresJournal(pool, { scope, ...ampleJournal }).get('evt')) ?? {};
    expect(deliveries).toBe(1);
  });
});
