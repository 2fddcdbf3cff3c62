import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import { KeptProcesses } from '../../../stores/kit/kept-processes.ts';
import { pause } from '../../../stores/kit/process-storm.ts';
import { KEY } from '../../../support/served.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { until } from '../../../support/until.ts';

const EVENTS = 1_000;
const RECEIVERS = 3;
const SENDERS = 12;
const CALLERS = 8;
const HANDLERS = ['book', 'mail'];
/** One of so many events is never delivered, and one of so many is never accepted. */
const MISSED_EVERY = 10;
/** One of so many events is poison for a handler: also some that are both delivered and accepted. */
const POISON_EVERY = 21;
const LEASE_MS = 1_500;
const FREEZE_MS = LEASE_MS * 1.5;
const ANSWER_LIMIT_MS = 10_000;
const RETRY_PAUSE_MS = 300;
const REPLAY_PAUSE_MS = 1_000;
const PATIENCE_MS = 120_000;
const options = {
  leaseMs: LEASE_MS,
  deadlineMs: 5_000,
  maxRunMs: 2_000,
  retryScheduleMs: [500, 2_500, 7_500],
};

type Trouble = () => Promise<void>;
type StormEvent = ReturnType<typeof createEvent>;

/** The database of a storm. */
export interface AcceptStormPlace {
  /** For test/receiver/handling/ways-in/accept-storm-program.mjs. */
  readonly env: NodeJS.ProcessEnv;
  /** The troubles of the database, by turns with kills and freezes. */
  readonly troubles: readonly Trouble[];
  /** Resolves with the rows of the table `handled`: the id of an event and the name of a handler. */
  readonly readHandled: () => Promise<readonly string[]>;
}

/**
 * Events are delivered to three processes, while a fourth one accepts them, and any of them replays dead
 * letters. All are killed and frozen, and their database has its own troubles. In the end each handler of an
 * inbox has handled each event once, and no dead letter is left.
 */
export async function expectEachHandledOnce(place: AcceptStormPlace): Promise<void> {
  const storm = new AcceptStorm(place);
  onTestFinished(() => storm.stop());
  await storm.run();
  const rows = await place.readHandled();
  const report = { ...storm.counts, accepts: Object.fromEntries(storm.accepts) };
  process.stdout.write(`storm of accepts: ${JSON.stringify(report)}\n`);
  const expected = storm.events.flatMap(({ id }) => HANDLERS.map((handler) => `${id} ${handler}`));
  expect(rows.toSorted()).toEqual(expected.toSorted());
  expect(storm.crashes).toEqual([]);
  expect(storm.accepts.get('rejected')).toBeUndefined();
  for (const outcome of ['processed', 'duplicate', 'parked'])
    expect(storm.accepts.get(outcome), outcome).toBeGreaterThan(0);
}

class AcceptStorm {
  readonly events: readonly StormEvent[] = Array.from({ length: EVENTS }, (_, index) =>
    createStormEvent(index),
  );
  readonly counts = { deliveries: 0, refused: 0, cut: 0, kills: 0, freezes: 0 };
  /** The accepts, by their outcomes; `cut` without an answer. */
  readonly accepts: Map<string, number> = new Map();
  readonly #receivers: KeptProcesses;
  readonly #acceptors: KeptProcesses;
  readonly #healed: string;
  readonly #troubles: readonly Trouble[];
  #begunTroubles = 0;
  #isCalm = false;

  constructor({ env, troubles }: AcceptStormPlace) {
    this.#healed = join(temporaryDirectory(), 'healed');
    const all = { HEALED: this.#healed, OPTIONS: JSON.stringify(options), ...env };
    const program = 'test/receiver/handling/ways-in/accept-storm-program.mjs';
    this.#receivers = new KeptProcesses(program, all);
    this.#acceptors = new KeptProcesses(program, all);
    const own: Trouble[] = [this.#receivers, this.#acceptors].flatMap((processes) => [
      () => processes.kill(),
      () => processes.freeze(FREEZE_MS),
    ]);
    this.#troubles = [...own, ...troubles.flatMap((trouble) => [trouble, ...own])];
  }

  get crashes(): readonly string[] {
    return [...this.#receivers.crashes, ...this.#acceptors.crashes];
  }

  async stop(): Promise<void> {
    await Promise.all([this.#receivers.stop(), this.#acceptors.stop()]);
  }

  /** Resolves once each event is handled, by a replay if it was parked. */
  async run(): Promise<void> {
    this.#receivers.start(RECEIVERS);
    this.#acceptors.start(1);
    await this.#untilAllListen();
    const replaying = this.#replayMeanwhile();
    await Promise.all([
      this.#trouble(),
      this.#each(SENDERS, (event, index) => index % MISSED_EVERY !== 0 && this.#send(event)),
      this.#each(CALLERS, (event, index) => index % MISSED_EVERY !== 1 && this.#accept(event)),
    ]);
    this.#isCalm = true;
    await replaying;
    writeFileSync(this.#healed, '');
    await until('no dead letter is left', async () => (await this.#replay()) === '0', PATIENCE_MS);
    const { counts } = this;
    counts.kills = this.#receivers.killedAt.size + this.#acceptors.killedAt.size;
    counts.freezes = this.#receivers.freezes.length + this.#acceptors.freezes.length;
    await this.stop();
  }

  #untilAllListen(): Promise<void> {
    return until(
      'all processes listen',
      () => this.#receivers.areAlive() && this.#acceptors.areAlive(),
      PATIENCE_MS,
    );
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
  async #each(
    many: number,
    handle: (event: StormEvent, index: number) => Promise<void> | false,
  ): Promise<void> {
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
    const isAccepted = async (): Promise<boolean> => {
      this.counts.deliveries += 1;
      const url = this.#receivers.anyUrl();
      const response = url && (await this.#answer((signal) => deliver(url, event, { key: KEY, signal })));
      if (response && response.status < 300) return true;
      if (response) this.counts.refused += 1;
      await pause(RETRY_PAUSE_MS);
      return false;
    };
    return until(`${event.id} is accepted from its sender`, isAccepted, PATIENCE_MS);
  }

  /** Repeats an accept that got no answer, or whose answer says that the event was not handled. */
  #accept(event: StormEvent): Promise<void> {
    const body = JSON.stringify(event);
    const isAccepted = async (): Promise<boolean> => {
      const outcome = (await this.#call(this.#acceptors.anyUrl(), 'accept', body)) ?? 'cut';
      this.accepts.set(outcome, (this.accepts.get(outcome) ?? 0) + 1);
      if (['processed', 'duplicate', 'parked', 'rejected'].includes(outcome)) return true;
      await pause(RETRY_PAUSE_MS);
      return false;
    };
    return until(`${event.id} is accepted`, isAccepted, PATIENCE_MS);
  }

  async #replayMeanwhile(): Promise<void> {
    while (!this.#isCalm) {
      await this.#replay();
      await pause(REPLAY_PAUSE_MS);
    }
  }

  #replay(): Promise<string | undefined> {
    const processes = Math.random() < 0.5 ? this.#receivers : this.#acceptors;
    return this.#call(processes.anyUrl(), 'replay', '');
  }

  async #call(url: string | undefined, name: string, body: string): Promise<string | undefined> {
    if (url === undefined) return undefined;
    const answer = await this.#answer((signal) => fetch(`${url}${name}`, { method: 'POST', body, signal }));
    return answer?.text;
  }

  /** Resolves with undefined if the connection was cut, or no answer came in time. */
  async #answer(ask: (signal: AbortSignal) => Promise<Response>) {
    try {
      const response = await ask(AbortSignal.timeout(ANSWER_LIMIT_MS));
      return { status: response.status, text: await response.text() };
    } catch {
      this.counts.cut += 1;
      return undefined;
    }
  }
}

function createStormEvent(index: number): StormEvent {
  const poison = HANDLERS[Math.floor(index / POISON_EVERY) % HANDLERS.length];
  return createEvent('transfer.succeeded', {
    id: `TR_${index}`,
    ...(index % POISON_EVERY === 0 && { poison }),
  });
}
