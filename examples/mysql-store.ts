/*
 * A store of MySQL and MariaDB, with mysql2, to begin with: `createReceiver` takes it as
 * `store: createMySqlStore(createPool(url))`, with `createPool` of `mysql2/promise`. It passes every case of
 * `storeConformance`, on MariaDB (test/matrix/mysql-store.matrix.test.ts). Create its table:
 *
 *   create table posthorn_events
 *     (id binary(32) primary key, entry mediumblob not null, expires_at bigint not null, index (expires_at));
 *
 * Delete what has expired now and then:
 *
 *   delete from posthorn_events where expires_at < unix_timestamp() * 1000 limit 1000;
 *
 * An operation is atomic, because it writes a row only if nobody has changed it since it was read. It holds
 * no lock between two statements. It is not tested on MySQL 8, but the manual has the rules that it rests on:
 *
 * - An update that changes its row has 1 as affected rows, with and without the flag FOUND_ROWS of mysql2:
 *   https://dev.mysql.com/doc/c-api/8.4/en/mysql-affected-rows.html.
 * - `insert ignore` leaves a row that is there: https://dev.mysql.com/doc/refman/8.4/en/insert.html.
 * - `utc_timestamp` is free of daylight saving time, which repeats local times:
 *   https://dev.mysql.com/doc/refman/8.4/en/timestamp-lookups.html.
 *
 * Without `spacedAttempts`, deliveries in quick succession count as attempts.
 */

import { createHash } from 'node:crypto';
import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import type { LeaseRequest, Store } from 'posthorn';

const READ = `select now_ms, entry, expires_at from posthorn_events right join
  (select timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000 as now_ms) as clock on id = ?`;
const INSERT = 'insert ignore into posthorn_events (entry, expires_at, id) values (?, ?, ?)';
const UPDATE = 'update posthorn_events set entry = ?, expires_at = ? where id = ? and entry = ?';

const times = { leaseEndsAt: 0, firstClaimedAt: 0, refusedUntil: {} as { readonly [token: string]: number } };
const counts = { attempt: 0, abandoned: 0, handled: [] as readonly string[] };
/** An id that nobody has claimed. A released one keeps the token of its last claim, without a lease. */
const unclaimed = { token: '', isCompleted: false, ...times, ...counts };
/** A tool has the id, not a run: its claim does not count. */
const isHold = (token: string) => token.startsWith('hold:');

function take(entry: typeof unclaimed, { token, leaseMs }: LeaseRequest, now: number): void {
  const isNew = entry.token !== token || entry.leaseEndsAt === 0;
  if (isNew && entry.leaseEndsAt > 0 && !isHold(entry.token)) entry.abandoned += 1;
  if (isNew && !isHold(token)) entry.attempt += 1;
  if (!isHold(token)) entry.firstClaimedAt ||= now;
  Object.assign(entry, { token, leaseEndsAt: now + leaseMs });
}

export function createMySqlStore(pool: Pool): Store {
  async function run(sql: string, values: unknown[]) {
    const connection = await pool.getConnection();
    try {
      const [result] = await connection.query({ sql, values, timeout: 2_000 });
      connection.release();
      return result;
    } catch (error) {
      connection.destroy(); // an answer may still come
      throw error;
    }
  }

  /** Changes an entry, by the clock of the server; begins again if somebody has changed it meanwhile. */
  async function change<Result>(
    { id, retentionMs }: { readonly id: string; readonly retentionMs: number },
    work: (entry: typeof unclaimed, now: number) => Result,
  ): Promise<Result> {
    const key = createHash('sha256').update(id, 'utf16le').digest();
    for (;;) {
      const [{ now_ms, entry: stored, expires_at }] = (await run(READ, [key])) as [RowDataPacket];
      const now = Number(now_ms); // a pool with bigNumberStrings reads a text
      const entry = { ...unclaimed, ...(Number(expires_at) > now && JSON.parse(stored)) };
      const before = JSON.stringify(entry);
      const result = work(entry, now);
      const after = JSON.stringify(entry);
      if (after === before) return result;
      const values = [Buffer.from(after), Math.max(entry.leaseEndsAt, now + retentionMs), key];
      const write = stored === null ? run(INSERT, values) : run(UPDATE, [...values, stored]);
      if (((await write) as ResultSetHeader).affectedRows === 1) return result;
    }
  }

  return {
    claim: (request) =>
      change(request, (entry, now) => {
        const { token } = request;
        if (entry.isCompleted) return { state: 'completed' };
        const busyUntil = entry.token === token ? 0 : entry.leaseEndsAt;
        const msLeft = Math.max(busyUntil, entry.refusedUntil[token] ?? 0) - now;
        if (msLeft > 0) return { state: 'busy', msLeft };
        take(entry, request, now);
        const { abandoned, handled } = entry;
        const attempt = isHold(token) ? entry.attempt + 1 : entry.attempt;
        const firstClaimedMsAgo = now - (entry.firstClaimedAt || now);
        return { state: 'claimed', attempt, abandoned, handled, firstClaimedMsAgo };
      }),
    renew: (request) =>
      change(request, (entry, now) => {
        const { token } = request;
        if (entry.isCompleted) return { state: 'completed' };
        const isHeld = entry.token === token && entry.leaseEndsAt > 0;
        const isFree = entry.token === '' && (entry.refusedUntil[token] ?? 0) <= now;
        if (!isHeld && !isFree) return { state: 'lost' };
        take(entry, request, now);
        return { state: 'held' };
      }),
    complete: (request) =>
      change(request, (entry) => {
        entry.isCompleted = true;
        return { state: 'completed' };
      }),
    release: (request) =>
      change(request, (entry, now) => {
        const { token, handled, refuseClaimsMs = 0 } = request;
        if (entry.isCompleted) return { state: 'completed' };
        if (refuseClaimsMs > 0) entry.refusedUntil = { ...entry.refusedUntil, [token]: now + refuseClaimsMs };
        if (entry.token !== token) return { state: 'lost' };
        entry.leaseEndsAt = 0;
        if (handled.length > 0) entry.handled = handled;
        return { state: 'released' };
      }),
    peek: ({ id }) =>
      change({ id, retentionMs: 0 }, (entry, now) => {
        if (entry.isCompleted) return { state: 'completed' };
        return { state: entry.leaseEndsAt > now ? 'running' : 'unknown' };
      }),
    refusesLateClaims: true,
  };
}
