import { toKey } from '../../../receiver/dedupe/store.ts';
import type { JournalBatch, JournalRecord } from '../../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../../receiver/journal/record.ts';
import { performance } from '../../../receiver/timing/process-clock.ts';
import type { Cleaning } from '../../kit/cleaning.ts';
import type {
  JournalOperations,
  LookedAt,
  Place,
  StoredEntry,
} from '../../kit/journal/journal-operations.ts';
import type { CheckedSelection } from '../../kit/journal/selection.ts';
import { storableJson } from '../../kit/journal/stored-record.ts';
import { CLEANING_BATCH, createCleaning } from '../cleaning.ts';
import { columnOf, type PostgresPool, type PostgresResult } from '../client.ts';
import { withClient } from '../connection.ts';
import { explain } from '../errors.ts';
import { type JournalStatements, journalStatements } from './statements.ts';

/** The place of a journal, and its limits. */
interface JournalSettings {
  readonly scope: string;
  /** Quoted. */
  readonly schema: string;
  readonly commandTimeoutMs: number;
  readonly retentionMs: number;
}

/** Runs the statements on the journal of one scope, each under a time limit. */
export class PostgresJournalOperations implements JournalOperations {
  readonly batchSize: number = CLEANING_BATCH;
  readonly cleaning: Cleaning;
  readonly #pool: PostgresPool;
  readonly #settings: JournalSettings;
  readonly #statements: JournalStatements;

  constructor(pool: PostgresPool, settings: JournalSettings) {
    const { commandTimeoutMs: limitMs, retentionMs, schema, scope } = settings;
    this.#pool = pool;
    this.#settings = settings;
    this.#statements = journalStatements(schema, limitMs);
    this.cleaning = createCleaning(pool, {
      schema,
      limitMs,
      statement: this.#statements.deleteOld,
      values: [scope, retentionMs],
      rows: 'old entries of the journal',
    });
  }

  async record({ batchId, records }: JournalBatch): Promise<void> {
    const bodies: Uint8Array[] = [];
    let end = 1;
    const rows = records.map((record) => {
      const { rawBody } = record;
      const bodyAt = end;
      if (rawBody !== undefined) bodies.push(rawBody);
      end += rawBody?.byteLength ?? 0;
      return rowOf(record, bodyAt);
    });
    await this.#run(this.#statements.record, batchId, storableJson(rows), Buffer.concat(bodies));
  }

  async find(key: string, id: string): Promise<readonly StoredEntry[]> {
    return entriesOf(await this.#run(this.#statements.find, key, id));
  }

  async read(keys: readonly string[], bodies: boolean): Promise<readonly StoredEntry[]> {
    const { read, readWithoutBodies } = this.#statements;
    return entriesOf(await this.#run(bodies ? read : readWithoutBodies, keys));
  }

  async lookAt(
    { outcome, resource, type, until }: CheckedSelection,
    { firstReceivedAt, key }: Place,
  ): Promise<readonly LookedAt[]> {
    const start = type?.endsWith('.*') ? type.slice(0, -1) : undefined;
    const values = [firstReceivedAt, key, until, start === undefined ? type : undefined, start, outcome];
    const { lookAt, lookAtResource } = this.#statements;
    const { rows } = await (resource === undefined
      ? this.#run(lookAt, ...values)
      : this.#run(lookAtResource, ...values, resource));
    return rows.map((row) => ({
      firstReceivedAt: Number(row.first_received_at),
      key: String(row.key),
      matches: row.matches === 'true',
    }));
  }

  async deleteOld(olderThanMs: number): Promise<number> {
    return Number(columnOf(await this.#run(this.#statements.deleteOld, olderThanMs), 'deleted'));
  }

  async #run(statement: string, ...values: unknown[]): Promise<PostgresResult> {
    const { commandTimeoutMs, schema, scope } = this.#settings;
    try {
      return await withClient(this.#pool, performance.now() + commandTimeoutMs, (connection) =>
        connection.query(statement, [scope, ...values]),
      );
    } catch (error) {
      throw explain(schema, error);
    }
  }
}

/** A row of the statement, made at once: records have many members, and each copy of one takes time. */
function rowOf(record: JournalRecord, bodyAt: number): object {
  const { id, key, type, provider, account, createdAt, firstReceivedAt, lastReceivedAt, deliveries } = record;
  const { attempts, outcome, code, finality, decidedAt, handled, resource, headers, rawBody } = record;
  return {
    storedKey: toKey(keyOfRecord(record)),
    id,
    key,
    type,
    provider,
    account,
    createdAt,
    firstReceivedAt,
    lastReceivedAt,
    deliveries,
    attempts,
    outcome,
    code,
    finality,
    decidedAt,
    handled,
    resource,
    headers,
    bodyAt,
    bodyLength: rawBody?.byteLength,
  };
}

function entriesOf({ rows }: PostgresResult): StoredEntry[] {
  return rows.map(({ key, json, raw_body: body }) => ({
    key: String(key),
    json: String(json),
    rawBody: typeof body === 'string' ? Buffer.from(body, 'base64') : undefined,
  }));
}
