import { randomUUID } from 'node:crypto';
import type { DeadLetters } from 'posthorn';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { createDynamoStore } from 'posthorn/dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { d1Migrations } from '../../src/stores/d1/migrate.ts';
import { Deploy, endedIn, repeatedIn } from '../stored-forms/deploy.ts';
import { loadFormer, testNeighbours } from '../stored-forms/neighbours.ts';
import { SCOPE } from '../stored-forms/record.ts';
import { rollReceivers, SOME } from '../stored-forms/roll-receivers.ts';
import { buildCommit, type Version } from '../stored-forms/version.ts';
import { LocalD1 } from '../stores/d1/binding.ts';
import { useDynamo } from '../stores/dynamodb/fixture.ts';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { ampleTime } from '../support/limits.ts';
import { readAll } from '../support/read-all.ts';

/** The last version that knows only the first migration. Version 0.2.0 has no D1. */
const FORMER_COMMIT = '3e5ca4d';

/** In base64 it needs two rows of D1. */
const PADDING = 'x'.repeat(460_000);

let former: Version;

beforeAll(() => {
  former = buildCommit(FORMER_COMMIT);
});

afterAll(() => former.remove());

async function openByFormer(binding: LocalD1): Promise<DeadLetters> {
  return (await loadFormer(former, 'd1')).createD1DeadLetters(binding, { scope: SCOPE });
}

describe('a store of the former version and one of today on one D1', () => {
  const fixture = useSqlite();

  const open = async () => {
    const connection = fixture.open();
    connection.exec(String(d1Migrations[0]));
    const binding = new LocalD1(connection);
    const { createD1Store: createFormer } = await loadFormer(former, 'd1');
    return {
      former: createFormer(binding, { scope: SCOPE }),
      today: createD1Store(binding, { scope: SCOPE, ...ampleTime }),
    };
  };
  testNeighbours(open, { abandoned: 1, late: 'busy' });
});

describe('a store of the former version and one of today on one DynamoDB', () => {
  const dynamo = useDynamo();

  const open = async () => {
    const place = { table: dynamo.table, scope: randomUUID() };
    const { createDynamoStore: createFormer } = await loadFormer(former, 'dynamodb');
    return {
      former: createFormer(dynamo.client, place),
      today: createDynamoStore(dynamo.client, { ...place, ...ampleTime }),
    };
  };
  // A claim of the former version writes the whole item, without what it does not know.
  testNeighbours(open, { abandoned: 1, late: 'claimed' });
});

describe('a deploy on D1 that replaces code of the first migration process by process', () => {
  const fixture = useSqlite();

  test.each([
    ['that are not migrated', false],
    ['that are migrated meanwhile', true],
  ])(
    'loses and repeats nothing on tables %s, and both versions read all letters',
    async (_form, isMigrated) => {
      const connection = fixture.open();
      const [first = '', ...later] = d1Migrations;
      connection.exec(`pragma journal_mode = wal; ${first}`);
      const deploy = new Deploy(
        { store: 'd1', scope: SCOPE, d1File: fixture.path },
        { type: 'transfer.updated', data: { padding: PADDING } },
      );
      const migrate = async (): Promise<void> => {
        await deploy.deliveries(2 * SOME);
        if (isMigrated) connection.exec(`begin immediate; ${later.join('')} commit`);
      };
      await Promise.all([rollReceivers(deploy, former), migrate()]);

      const binding = new LocalD1(connection);
      const deadLetters = createD1DeadLetters(binding, { scope: SCOPE });
      const letters = await readAll(deadLetters.list());
      const parked = letters.map(({ id }) => id);
      process.stdout.write(
        `rolling deploy on D1: ${JSON.stringify({ events: deploy.events.length, parked: parked.length, ...deploy.counts })}\n`,
      );
      const notes = deploy.notes();
      const kept = new Set([...endedIn(notes), ...parked]);
      expect(deploy.events.map(({ id }) => id).filter((id) => !kept.has(id))).toEqual([]);
      expect(repeatedIn(notes)).toEqual([]);
      expect(parked.length).toBeGreaterThan(0);
      const sent = new Map(deploy.events.map(({ id, body }) => [id, body]));
      const changed = letters.filter(({ id, rawBody }) => Buffer.from(rawBody).toString() !== sent.get(id));
      expect(changed.map(({ id }) => id)).toEqual([]);
      const seenByFormer = await readAll((await openByFormer(binding)).list());
      expect(seenByFormer.map(({ id }) => id)).toEqual(parked);
      const isSame = (letter: (typeof letters)[number], index: number) =>
        Buffer.from(letter.rawBody).equals(letters[index]?.rawBody ?? Buffer.alloc(0));
      expect(seenByFormer.every(isSame)).toBe(true);
    },
  );
});
