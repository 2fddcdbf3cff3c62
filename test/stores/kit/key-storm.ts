import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import { KEY } from '../../support/served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { KeptProcesses } from './kept-processes.ts';
import { mostRunsFrozen, overlapsIn, type Run, readRuns } from './key-runs.ts';
import { pause } from './process-storm.ts';

const PROGRAM = 'test/stores/kit/key-storm-program.mjs';
const PROCESSES = 2;
const LEAST_EVENTS = 2_000;
/** Of a kill, a long freeze and a short one. */
const ROUNDS = 3;
const KEYS = 50;
const SENDERS = 100;
const RETRY_PAUSE_MS = 50;
/** More than a busy machine needs. */
const PATIENCE_MS = 150_000;
/** Longer than a busy machine lets a process wait for its turn. */
const LEASE_MS = 3_000;
/** A lease is renewed once a third of it is over: at least this much of it is left when a freeze begins. */
const LEFT_MS = LEASE_MS / 2;
const SHORT_FREEZE_MS = LEASE_MS / 3;
const LONG_FREEZE_MS = LEASE_MS * 1.5;
/** Events that must have been accepted since the trouble before. */
const EVENTS_BETWEEN = 50;
const ANSWER_LIMIT_MS = 20_000;

/** A dead letter whose process was killed is replayed once its `maxRunMs` is over. */
const options = {
  leaseMs: LEASE_MS,
  deadlineMs: 12_000,
  maxRunMs: 6_000,
  retryScheduleMs: [1_000, 7_000, 12_000],
};

/** The store of a storm. */
export interface StoreOfStorm {
  /** For test/stores/kit/key-storm-program.mjs: the store and its address. */
  readonly env: NodeJS.ProcessEnv;
  /** Resolves with the number of keys that the store has, claimed or released, and that have not expired. */
  readonly countKeys: () => number | Promise<number>;
}

/**
 * Two processes on one store that are killed and started again, and frozen for shorter and longer than a
 * lease, while events are sent until they are accepted. Every event must be handled, and those of one key one
 * at a time, unless a process was frozen past its lease while it had the key.
 */
export async function expectKeysHold(store: StoreOfStorm): Promise<void> {
  const storm = new KeyStorm(store);
  const { processes } = storm;
  onTestFinished(() => processes.stop());
  const startedAt = performance.now();
  await storm.run();
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const { counts, events } = storm;
  const { crashes, freezes, killedAt } = processes;
  const runs = storm.runs();
  const { overlaps, excused } = overlapsIn(runs, freezes, LEFT_MS);
  const lengths = freezes.map(({ from, to }) => Math.round(to - from));
  const mostFrozen = mostRunsFrozen(excused);
  const found = { overlaps: overlaps.length, excused: excused.length, mostFrozen };
  const report = { ...counts, kills: killedAt.size, seconds, runs: runs.length, freezes: lengths, ...found };
  process.stdout.write(`storm of keys: ${JSON.stringify(report)}\n`);
  expect(overlaps).toEqual([]);
  // Each run of a process that was frozen had a key of its own.
  expect(mostFrozen).toBeLessThanOrEqual(KEYS);
  const handled = new Set(runs.filter(({ hasEnded }) => hasEnded).map(({ event }) => event));
  expect(events.filter((id) => !handled.has(id))).toEqual([]);
  expect(crashes).toEqual([]);
  expect(killedAt.size).toBe(ROUNDS);
  expect(lengths.filter((ms) => ms > LEASE_MS).length).toBeGreaterThanOrEqual(ROUNDS);
  expect(counts.mostKeys).toBeGreaterThan(0);
}

class KeyStorm {
  readonly counts = { deliveries: 0, refused: 0, cut: 0, parked: 0, mostKeys: 0 };
  readonly events: string[] = [];
  readonly processes: KeptProcesses;
  readonly #store: StoreOfStorm;
  readonly #log: string = join(temporaryDirectory(), 'log');
  #accepted = 0;
  #isCalm = false;

  constructor(store: StoreOfStorm) {
    this.#store = store;
    writeFileSync(this.#log, '');
    const env = { LOG: this.#log, OPTIONS: JSON.stringify(options), ...store.env };
    this.processes = new KeptProcesses(PROGRAM, env);
  }

  /** Resolves once every event is handled, and all keys are free. */
  async run(): Promise<void> {
    const { processes } = this;
    processes.start(PROCESSES);
    await until('both processes listen', () => processes.areAlive());
    await Promise.all([this.#trouble(), ...Array.from({ length: SENDERS }, () => this.#send())]);
    await until('both processes listen', () => processes.areAlive());
    await until('no dead letter is left', () => this.#replay());
    await until('no key is left', async () => (await this.#store.countKeys()) === 0);
    // Each key is free for either process.
    for (let number = 0; number < KEYS * PROCESSES; number += 1) await this.#sendUntilAccepted(this.#event());
    await until('no key is left', async () => (await this.#store.countKeys()) === 0);
    await processes.stop();
  }

  runs(): Run[] {
    return readRuns(readFileSync(this.#log, 'utf8'), this.processes.killedAt);
  }

  /** Kills and freezes a process by turns. */
  async #trouble(): Promise<void> {
    const { processes } = this;
    const troubles = [
      () => processes.kill(),
      () => processes.freeze(LONG_FREEZE_MS),
      () => processes.freeze(SHORT_FREEZE_MS),
    ];
    for (let number = 0; number < ROUNDS * troubles.length; number += 1) {
      const enough = this.#accepted + EVENTS_BETWEEN;
      await until(
        'more events are accepted, and both processes listen',
        () => this.#accepted >= enough && processes.areAlive(),
      );
      this.counts.mostKeys = Math.max(this.counts.mostKeys, await this.#store.countKeys());
      await troubles[number % troubles.length]?.();
    }
    this.#isCalm = true;
  }

  async #send(): Promise<void> {
    while (this.events.length < LEAST_EVENTS || !this.#isCalm) {
      await this.#sendUntilAccepted(this.#event());
      this.#accepted += 1;
    }
  }

  #event(): ReturnType<typeof createEvent> {
    const event = createEvent('transfer.updated', { id: `tr_${this.events.length % KEYS}` });
    this.events.push(event.id);
    return event;
  }

  async #sendUntilAccepted(event: ReturnType<typeof createEvent>): Promise<void> {
    const answers: unknown[] = [];
    await until(
      () => `the event is accepted: ${answers.join(', ')}`,
      async () => {
        answers.push(await this.#deliver(event));
        if (answers.at(-1) !== 200) await pause(RETRY_PAUSE_MS);
        return answers.at(-1) === 200;
      },
      PATIENCE_MS,
    );
  }

  async #deliver(event: ReturnType<typeof createEvent>): Promise<number | undefined> {
    const to = this.processes.anyUrl();
    if (to === undefined) return undefined;
    this.counts.deliveries += 1;
    try {
      const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
      const response = await deliver(to, event, { key: KEY, signal });
      const body: unknown = await response.json();
      if (Reflect.get(Object(body), 'outcome') === 'parked') this.counts.parked += 1;
      if (response.status !== 200) this.counts.refused += 1;
      return response.status;
    } catch {
      this.counts.cut += 1;
      return undefined;
    }
  }

  /** Resolves with true if no dead letter is left. */
  async #replay(): Promise<boolean> {
    const url = this.processes.anyUrl();
    if (url === undefined) return false;
    const response = await fetch(`${url}replay`);
    return (await response.text()) === '0';
  }
}
