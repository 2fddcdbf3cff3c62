import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetters, Journal, Store } from 'posthorn';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { AllWaysCalls } from './all-ways-calls.ts';
import { createStormEvents, EVENTS, RERUN_HANDLERS, RUNS, type StormEvent } from './all-ways-events.ts';
import { KeptProcesses } from './kept-processes.ts';
import { overlapsIn, readRuns } from './key-runs.ts';
import { pause } from './process-storm.ts';

const RECEIVERS = 3;
const SENDERS = 12;
const CALLERS = 8;
/** One of so many events is never delivered, and one of so many is never accepted. */
const MISSED_EVERY = 10;
const LEASE_MS = 2_000;
const FREEZE_MS = LEASE_MS * 1.5;
const RETRY_PAUSE_MS = 300;
/** An event may be poison, and the journal may lack it: such a rerun is left to the end. */
const RERUN_TRIES = 4;
const LAST_RERUN_TRIES = 60;
/** An entry is written within a second. */
const RERUN_PAUSE_MS = 1_000;
/** In the end one of so many finished reruns is repeated. */
const REPEATED_EVERY = 10;
const REPLAY_PAUSE_MS = 1_000;
const PATIENCE_MS = 120_000;
const options = {
  leaseMs: LEASE_MS,
  deadlineMs: 5_000,
  maxRunMs: 2_000,
  retryScheduleMs: [500, 2_500, 7_500],
};

type Trouble = () => Promise<void>;

/** The database of a storm. */
export interface AllWaysPlace {
  /** For test/stores/kit/all-ways-program.mjs. */
  readonly env: NodeJS.ProcessEnv;
  /** The troubles of the database, by turns with kills and freezes. */
  readonly troubles: readonly Trouble[];
  /** Resolves with the rows of the table `handled`: an event, a handler, and the rerun or nothing. */
  readonly readHandled: () => Promise<readonly string[]>;
  /** Resolves with the number of claims whose lease has not ended. */
  readonly countClaims: () => Promise<number>;
  readonly store: Store;
  readonly deadLetters: DeadLetters;
  readonly journal: Journal;
}

/** Sends events all ways at the same time, while their processes and their database have troubles. */
export class AllWaysStorm {
  readonly events: readonly StormEvent[] = createStormEvents();
  readonly calls: AllWaysCalls = new AllWaysCalls();
  /** The event and the name of each rerun that was answered as done. */
  readonly finished: Set<string> = new Set();
  readonly #receivers: KeptProcesses;
  readonly #callers: KeptProcesses;
  readonly #healed: string;
  readonly #log: string;
  readonly #place: AllWaysPlace;
  readonly #troubles: readonly Trouble[];
  /** The reruns of events that were taken, by their ids. */
  readonly #reruns = new Map<string, Promise<unknown>>();
  #begunTroubles = 0;
  #isCalm = false;

  constructor(place: AllWaysPlace) {
    this.#place = place;
    const directory = temporaryDirectory();
    this.#healed = join(directory, 'healed');
    this.#log = join(directory, 'runs');
    writeFileSync(this.#log, '');
    const env = { HEALED: this.#healed, LOG: this.#log, OPTIONS: JSON.stringify(options), ...place.env };
    const program = 'test/stores/kit/all-ways-program.mjs';
    this.#receivers = new KeptProcesses(program, env);
    this.#callers = new KeptProcesses(program, env);
    const own: Trouble[] = [this.#receivers, this.#callers].flatMap((processes) => [
      () => processes.kill(),
      () => processes.freeze(FREEZE_MS),
    ]);
    this.#troubles = [...own, ...place.troubles.flatMap((trouble) => [trouble, ...own])];
  }

  get crashes(): readonly string[] {
    return this.#both.flatMap(({ crashes }) => crashes);
  }

  get #both(): readonly [KeptProcesses, KeptProcesses] {
    return [this.#receivers, this.#callers];
  }

  #one(): KeptProcesses {
    return Math.random() < 0.5 ? this.#receivers : this.#callers;
  }

  counts(): object {
    const kills = this.#both.reduce((sum, { killedAt }) => sum + killedAt.size, 0);
    const freezes = this.#both.reduce((sum, processes) => sum + processes.freezes.length, 0);
    return { kills, freezes, deaths: this.#deaths().size };
  }

  /** Two runs of `notify` for an event at once, unless a process was frozen past its lease. */
  overlaps(): readonly object[] {
    const killedAt = new Map([
      ...this.#both.flatMap((processes) => [...processes.killedAt]),
      ...this.#deaths(),
    ]);
    const freezes = this.#both.flatMap((processes) => processes.freezes);
    return overlapsIn(readRuns(readFileSync(this.#log, 'utf8'), killedAt), freezes, LEASE_MS / 2).overlaps;
  }

  /** The times at which processes killed themselves. */
  #deaths(): Map<string, number> {
    const deaths = readFileSync(this.#log, 'utf8').matchAll(/^(\d+) (\d+) dies$/gm);
    return new Map(Array.from(deaths, ([, pid = '', nanoseconds]) => [pid, Number(nanoseconds) / 1e6]));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#both.map((processes) => processes.stop()));
  }

  /** Resolves once each event is handled, by a replay if it was parked, and each rerun has been tried. */
  async run(): Promise<void> {
    this.#receivers.start(RECEIVERS);
    this.#callers.start(1);
    await this.#untilAllListen();
    const meanwhile = [this.#replayMeanwhile(), this.#lookMeanwhile()];
    await Promise.all([
      this.#trouble(),
      this.#each(SENDERS, async (event, index) => {
        if (index % MISSED_EVERY !== 0) await this.#send(event);
        this.#rerunMeanwhile(event);
      }),
      this.#each(CALLERS, async (event, index) => {
        if (index % MISSED_EVERY !== 1) await this.#accept(event);
        this.#rerunMeanwhile(event);
      }),
    ]);
    await Promise.all(this.#reruns.values());
    this.#isCalm = true;
    await Promise.all(meanwhile);
    writeFileSync(this.#healed, '');
    await until('no dead letter is left', async () => (await this.#replay()) === '0', PATIENCE_MS);
    // Nothing runs again. A completion may have died with its process after the answer: `completion_pending`.
    await this.#each(SENDERS, (event) => this.#send(event));
    await until('all entries are written', () => this.#look(), PATIENCE_MS);
    await this.#each(SENDERS, async ({ id }, index) => {
      for (const run of RUNS)
        if (index % REPEATED_EVERY === 0 || !this.finished.has(`${id} ${run}`))
          await this.#rerun(id, run, LAST_RERUN_TRIES);
    });
    await until('no id is claimed', async () => (await this.#place.countClaims()) === 0, PATIENCE_MS);
    await this.stop();
  }

  #untilAllListen(): Promise<void> {
    return until('all processes listen', () => this.#both.every((kept) => kept.areAlive()), PATIENCE_MS);
  }

  async #trouble(): Promise<void> {
    for (const trouble of this.#troubles) {
      await this.#untilAllListen();
      await trouble();
      this.#begunTroubles += 1;
      await pause(RETRY_PAUSE_MS);
    }
  }

  /** Handles all events in turn, so many at a time. Each trouble finds its share of them waiting. */
  async #each(many: number, handle: (event: StormEvent, index: number) => Promise<void>): Promise<void> {
    const waiting = [...this.events.entries()];
    const share = EVENTS / this.#troubles.length;
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, event] = next;
        await until('its share comes', () => index < (this.#begunTroubles + 1) * share, PATIENCE_MS);
        await handle(event, index);
      }
    };
    await Promise.all(Array.from({ length: many }, work));
  }

  #send(event: StormEvent): Promise<void> {
    const final = ['processed', 'duplicate', 'parked'];
    return this.#repeat(final, () => this.calls.deliver(this.#receivers.any(), event));
  }

  /** Repeats an accept that got no answer, or whose answer says that the event was not handled. */
  #accept(event: StormEvent): Promise<void> {
    const final = ['processed', 'duplicate', 'parked', 'rejected'];
    return this.#repeat(final, () => this.calls.call(this.#callers.any(), 'accept', event, event.id));
  }

  /** Runs the handlers of an event once more, and delivers it again, while another way may still have it. */
  #rerunMeanwhile(event: StormEvent): void {
    const { id } = event;
    if (this.#reruns.has(id)) return;
    const reruns = RUNS.map((run) => this.#rerun(id, run, RERUN_TRIES));
    this.#reruns.set(id, Promise.all([...reruns, this.#send(event)]));
  }

  async #rerun(id: string, run: string, tries: number): Promise<void> {
    for (let triesLeft = tries; triesLeft > 0; triesLeft -= 1) {
      const value = { id, run, handlers: RERUN_HANDLERS };
      const outcome = await this.calls.call(this.#one().any(), 'rerun', value);
      if (outcome === 'processed' || outcome === 'duplicate') {
        this.finished.add(`${id} ${run}`);
        return;
      }
      // An entry that the journal lacks may still come, unless all are written.
      if (outcome === 'rejected' && this.#isCalm) return;
      await pause(RERUN_PAUSE_MS);
    }
  }

  /** Repeats a call until its outcome is final. */
  #repeat(final: readonly string[], call: () => Promise<string | undefined>): Promise<void> {
    const isFinal = async (): Promise<boolean> => {
      if (final.includes((await call()) ?? 'cut')) return true;
      await pause(RETRY_PAUSE_MS);
      return false;
    };
    return until(`the outcome is one of ${final.join(', ')}`, isFinal, PATIENCE_MS);
  }

  async #replayMeanwhile(): Promise<void> {
    while (!this.#isCalm) {
      await this.#replay();
      await pause(REPLAY_PAUSE_MS);
    }
  }

  #replay(): Promise<string | undefined> {
    return this.calls.call(this.#one().any(), 'replay', {});
  }

  async #lookMeanwhile(): Promise<void> {
    while (!this.#isCalm) {
      await this.#look();
      await pause(RETRY_PAUSE_MS);
    }
  }

  /** Resolves with true if no process has entries to write. */
  async #look(): Promise<boolean> {
    const alive = this.#both.flatMap((processes) => processes.alive());
    return (await Promise.all(alive.map((one) => this.calls.lookAtJournal(one)))).every(Boolean);
  }
}
