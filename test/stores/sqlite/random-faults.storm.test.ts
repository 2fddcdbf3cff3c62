import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { startOwnProgram } from '../../support/own-program.ts';
import { until } from '../../support/until.ts';
import { ProcessStorm, pause, tryTo } from '../kit/process-storm.ts';
import { driverPath } from './driver.ts';
import { useSqlite } from './fixture.ts';
import { createLedger } from './ledger.ts';

const WORKERS = 4;
const LEAST_EVENTS = 400;

describe('four processes of node:cluster on one file of SQLite', () => {
  const fixture = useSqlite();

  test('killed, frozen, locked out and set back at random: nothing is lost, and nothing happens twice', async () => {
    const database = await fixture.openMigrated();
    createLedger(database);
    const port = await freePort();
    const env = { PORT: String(port), WORKERS: String(WORKERS), DRIVER: driverPath, FILE: fixture.path };
    const program = startOwnProgram('test/stores/sqlite/storm-program.mjs', env);
    await program.line(/^all listening/);
    const storm = new ProcessStorm(program, `http://127.0.0.1:${port}/`, LEAST_EVENTS);

    const lockOut = async () => {
      await until('the lock is free for a moment', () => tryTo(() => database.exec('begin immediate')));
      await pause(1_500);
      database.exec('commit');
    };
    const setBack = async () => {
      writeFileSync(`${fixture.path}.slow`, '');
      await storm.answers(150);
      rmSync(`${fixture.path}.slow`);
    };
    const freeze = () => storm.freeze(2_500);
    await storm.run([lockOut, setBack, freeze, lockOut, freeze]);

    const { acknowledged, counts } = storm;
    const hasCrashed = program.lines.some((line) => line.startsWith('crashed '));
    const printed = program.lines.filter(
      (line) => !/^(worker|all|killed|committed|handled|reported|pending) /.test(line),
    );
    const committed = program.lines.filter((line) => line.startsWith('committed ')).length;
    const skipped = program.lines.filter((line) => / processed handled_before /.test(line)).length;
    process.stdout.write(`storm: ${JSON.stringify({ ...counts, committed, skipped })}\n`);
    expect(hasCrashed ? printed : []).toEqual([]);
    expect(storm.handledAgain).toEqual([]);
    expect(acknowledged.size).toBe(counts.events);
    expect(counts.kills).toBeGreaterThan(5);
    // Some died between the commit and the store's record, and the inbox knew of it.
    expect(committed).toBeGreaterThan(0);
    expect(skipped).toBeGreaterThan(0);
    const booked = database
      .prepare('select event_id, count(*), sum(amount) from ledger group by event_id')
      .all();
    const wrong = booked.filter(
      (row) =>
        Object.values(row ?? {})
          .slice(1)
          .join(' ') !== '2 0',
    );
    expect(wrong).toEqual([]);
    const ids = new Set(booked.map((row) => Object.values(row ?? {})[0]));
    const inInbox = [...acknowledged.values()].filter(({ type }) => type === 'transfer.succeeded');
    expect(inInbox.filter(({ id }) => !ids.has(id))).toEqual([]);
    const handled = new Set(
      program.lines.filter((line) => line.startsWith('handled ')).map((line) => line.slice(8)),
    );
    const alone = [...acknowledged.values()].filter(({ type }) => type === 'transfer.failed');
    expect(alone.filter(({ id }) => !handled.has(id))).toEqual([]);
  });
});
