import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebhookEvent } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { freePort } from '../support/free-port.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { driverPath } from './driver.ts';
import { useSqlite } from './fixture.ts';
import { createLedger } from './ledger.ts';

const WORKERS = 4;
const SENDERS = 10;
const LEAST_EVENTS = 400;
const RETRY_PAUSE_MS = 30;
const ANSWER_LIMIT_MS = 8_000;
const PATIENCE_MS = 60_000;
const LIMIT_MS = 180_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const between = (least: number, most: number) => least + Math.floor(Math.random() * (most - least + 1));

describe('four processes of node:cluster on one file of SQLite', () => {
  const fixture = useSqlite();

  test('killed, frozen, locked out and set back at random: nothing is lost, and nothing happens twice', {
    timeout: LIMIT_MS,
  }, async () => {
    const database = await fixture.openMigrated();
    createLedger(database);
    const port = await freePort();
    const program = startProgram(
      join(packageRoot, 'test', 'sqlite', 'storm-program.mjs'),
      {
        PATH: process.env.PATH,
        PORT: String(port),
        WORKERS: String(WORKERS),
        DRIVER: driverPath,
        FILE: fixture.path,
        KEY,
      },
      packageRoot,
    );
    onTestFinished(async () => {
      program.kill('SIGKILL');
      await program.exit;
    });
    await program.line(/^all listening/);
    const storm = new Storm(program, `http://127.0.0.1:${port}/`);

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
    const freeze = async () => {
      const pid = storm.randomWorker();
      if (pid === undefined || !tryTo(() => process.kill(pid, 'SIGSTOP'))) return;
      await pause(2_500);
      tryTo(() => process.kill(pid, 'SIGCONT'));
    };
    await storm.run([lockOut, setBack, freeze, lockOut, freeze]);

    const { acknowledged, counts } = storm;
    const crashes = program.lines.filter((line) => line.startsWith('crashed '));
    const committed = program.lines.filter((line) => line.startsWith('committed ')).length;
    const skipped = program.lines.filter((line) => / processed handled_before /.test(line)).length;
    process.stdout.write(`storm: ${JSON.stringify({ ...counts, committed, skipped })}\n`);
    expect(crashes).toEqual([]);
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

function tryTo(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** A sender that retries and sends duplicates, while processes are killed and other troubles come. */
class Storm {
  readonly acknowledged = new Map<string, WebhookEvent>();
  /** Ids that were completed, and handled once more by a later delivery. */
  readonly handledAgain: string[] = [];
  readonly counts = { events: 0, answered: 0, refused: 0, cut: 0, kills: 0 };
  readonly #program: ChildProgram;
  readonly #url: string;
  #troublesLeft = 0;

  constructor(program: ChildProgram, url: string) {
    this.#program = program;
    this.#url = url;
  }

  /** Resolves once all events are acknowledged, and once more when each has been sent again. */
  async run(troubles: readonly (() => Promise<void>)[]): Promise<void> {
    this.#troublesLeft = troubles.length;
    await Promise.all([
      this.#kill(),
      this.#trouble(troubles),
      ...Array.from({ length: SENDERS }, () => this.#send()),
    ]);
    const left = [...this.acknowledged.values()];
    const sendAgain = async () => {
      for (let event = left.pop(); event !== undefined; event = left.pop())
        await this.#sendUntilAcknowledged(event);
    };
    await Promise.all(Array.from({ length: SENDERS }, sendAgain));
  }

  /** A process that listens, and has not been killed yet. */
  randomWorker(): number | undefined {
    const pidsOf = (word: string) =>
      this.#program.lines
        .filter((line) => line.startsWith(`${word} `))
        .map((line) => Number(line.split(' ')[1]));
    const ended = new Set(pidsOf('killed'));
    const alive = pidsOf('worker').filter((pid) => !ended.has(pid));
    return alive[between(0, alive.length - 1)];
  }

  /** Resolves once so many more deliveries have been answered, or no more come. */
  async answers(count: number): Promise<void> {
    const enough = this.counts.answered + count;
    await until(`${count} more answers`, () => this.counts.answered >= enough || this.#isEnough, PATIENCE_MS);
  }

  get #isEnough(): boolean {
    return this.counts.events >= LEAST_EVENTS && this.#troublesLeft === 0;
  }

  async #kill(): Promise<void> {
    while (!this.#isEnough) {
      await this.answers(between(20, 60));
      const pid = this.randomWorker();
      if (pid !== undefined && tryTo(() => process.kill(pid, 'SIGKILL'))) this.counts.kills += 1;
    }
  }

  async #trouble(troubles: readonly (() => Promise<void>)[]): Promise<void> {
    for (const trouble of troubles) {
      await this.answers(between(30, 60));
      await trouble();
      this.#troublesLeft -= 1;
    }
  }

  async #send(): Promise<void> {
    while (!this.#isEnough) {
      const type = Math.random() < 0.5 ? 'transfer.succeeded' : 'transfer.failed';
      const event = createEvent(type, { amount: between(1, 5_000) });
      this.counts.events += 1;
      await this.#sendUntilAcknowledged(event);
      if (Math.random() < 0.2) await this.#sendUntilAcknowledged(event);
    }
  }

  async #sendUntilAcknowledged(event: WebhookEvent): Promise<void> {
    const isAcknowledged = async () => {
      const times = Math.random() < 0.3 ? between(2, 3) : 1;
      const wasCompleted = this.acknowledged.has(event.id);
      const outcomes = await Promise.all(Array.from({ length: times }, () => this.#deliver(event)));
      const outcome = outcomes.find((candidate) => candidate !== undefined);
      if (outcome === undefined) return pause(RETRY_PAUSE_MS).then(() => false);
      if (wasCompleted && outcomes.includes('processed')) this.handledAgain.push(event.id);
      this.acknowledged.set(event.id, event);
      return true;
    };
    await until('the event is acknowledged', isAcknowledged, PATIENCE_MS);
  }

  /** Resolves with the outcome of a delivery that was answered 200. */
  async #deliver(event: WebhookEvent): Promise<unknown> {
    const answering = deliver(this.#url, event, { key: KEY }).then(
      async (response) => {
        const body: unknown = await response.json();
        return { status: response.status, outcome: Reflect.get(Object(body), 'outcome') };
      },
      () => undefined,
    );
    // A connection that was handed to a process that is dead by now is never answered.
    const answer = await Promise.race([answering, pause(ANSWER_LIMIT_MS).then(() => undefined)]);
    if (answer === undefined) this.counts.cut += 1;
    else this.counts.answered += 1;
    if (answer !== undefined && answer.status !== 200) this.counts.refused += 1;
    return answer?.status === 200 ? answer.outcome : undefined;
  }
}
