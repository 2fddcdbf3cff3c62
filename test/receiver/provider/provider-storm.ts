import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetter, DeadLetters, Provider } from 'posthorn';
import { bankingService, stripe } from 'posthorn/providers';
import { createEvent, type DeliverOptions, deliver } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import { KeptProcesses } from '../../stores/kit/kept-processes.ts';
import { pause } from '../../stores/kit/process-storm.ts';
import { pick } from '../../support/pick.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY } from '../../support/served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { handledAgain, lineOf, readStormNotes } from './storm-notes.ts';

const PROCESSES = 3;
const SENDERS = 15;
const LEAST_IDS = 200;
/** One of so many ids is poison for a handler of each sender. */
const POISON_EVERY = 25;
/** Of a kill and a freeze. */
const ROUNDS = 3;
/** The deliveries that must have been accepted since the kill or freeze before. */
const ACCEPTED_BETWEEN = 40;
const LEASE_MS = 1_500;
const FREEZE_MS = LEASE_MS * 1.5;
const ANSWER_LIMIT_MS = 8_000;
const PATIENCE_MS = 120_000;
const HANDLERS = ['book', 'mail'];
const options = { leaseMs: LEASE_MS, deadlineMs: 5_000, maxRunMs: 2_000 };

interface Sender {
  /** Its provider and account, as the path has them. */
  readonly name: string;
  readonly provider: Provider;
  /** The pauses before its retries; the last one again and again, as if somebody sent the event by hand. */
  readonly pausesMs: readonly number[];
}

/** Their schedules are those of test/receiver/provider/storm-program.mjs. */
const senders: readonly Sender[] = [
  { name: 'banking-service', provider: bankingService(), pausesMs: [500, 2_500, 7_500] },
  { name: 'stripe/m1', provider: stripe(), pausesMs: [300, 1_200, 3_000, 6_000] },
  { name: 'stripe/m2', provider: stripe(), pausesMs: [300, 1_200, 3_000, 6_000] },
];

/** The store, dead letters and queue that the receivers of a storm share. */
export interface StormPlace {
  /** For test/receiver/provider/storm-program.mjs. */
  readonly env: NodeJS.ProcessEnv;
  readonly deadLetters: DeadLetters;
  /** Resolves with true if no job is left. Absent without a queue. */
  readonly isQueueEmpty?: () => Promise<boolean>;
}

/**
 * Processes with receivers of both providers are killed and frozen, while all senders send events of the same
 * ids at the same time. Each event must be handled by its own handlers, by a replay if it was parked. Nothing
 * may begin again that was recorded as handled. Resolves with what each handler must have handled.
 */
export async function expectSendersApart(place: StormPlace): Promise<readonly string[]> {
  const storm = new ProviderStorm(place);
  const { processes } = storm;
  onTestFinished(() => processes.stop());
  await storm.run();
  const { counts, ids } = storm;
  const { crashes, freezes, killedAt } = processes;
  const notes = readStormNotes(storm.log);
  const again = handledAgain(notes, freezes, LEASE_MS);
  const report = { ...counts, ids: ids.length, kills: killedAt.size, excused: again.excused };
  process.stdout.write(`storm of two providers: ${JSON.stringify(report)}\n`);

  const expected = ids.flatMap((id) =>
    senders.flatMap(({ name }) => HANDLERS.map((handler) => lineOf(keyOf(name, id), name, handler, name))),
  );
  expect(new Set(expected).size).toBe(ids.length * senders.length * HANDLERS.length);
  const lines = (what: string): Set<string> =>
    new Set(
      notes
        .filter((note) => note.what === what)
        .map(({ key, own, handler, sender }) => lineOf(key, own, handler, sender)),
    );
  const [begun, handled] = [lines('begun'), lines('handled')];
  expect([...begun].filter((line) => !expected.includes(line))).toEqual([]);
  expect(expected.filter((line) => !handled.has(line))).toEqual([]);
  expect(again.unexcused).toEqual([]);
  expect(crashes).toEqual([]);
  expect([killedAt.size, freezes.length]).toEqual([ROUNDS, ROUNDS]);
  return expected;
}

class ProviderStorm {
  readonly counts = { deliveries: 0, refused: 0, cut: 0, letters: 0 };
  readonly ids: string[] = [];
  readonly processes: KeptProcesses;
  /** The file of the notes. */
  readonly log: string;
  readonly #place: StormPlace;
  readonly #healed: string;
  #accepted = 0;
  #isCalm = false;

  constructor(place: StormPlace) {
    this.#place = place;
    const directory = temporaryDirectory();
    this.log = join(directory, 'log');
    this.#healed = join(directory, 'healed');
    writeFileSync(this.log, '');
    const env = { LOG: this.log, HEALED: this.#healed, OPTIONS: JSON.stringify(options), ...place.env };
    this.processes = new KeptProcesses('test/receiver/provider/storm-program.mjs', env);
  }

  /** Resolves once each event is handled. */
  async run(): Promise<void> {
    const { processes } = this;
    const { deadLetters, isQueueEmpty = async () => true } = this.#place;
    processes.start(PROCESSES);
    await until('all processes listen', () => processes.areAlive());
    await Promise.all([this.#trouble(), ...Array.from({ length: SENDERS }, () => this.#sendIds())]);
    await until('no job is left', isQueueEmpty, PATIENCE_MS);
    const letters = await readAll(deadLetters.list());
    this.counts.letters = letters.length;
    expectOwn(letters);
    writeFileSync(this.#healed, '');
    await until('no dead letter is left', () => this.#replay(), PATIENCE_MS);
    await processes.stop();
  }

  /** Kills and freezes a process by turns. */
  async #trouble(): Promise<void> {
    const { processes } = this;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const trouble of [() => processes.kill(), () => processes.freeze(FREEZE_MS)]) {
        const enough = this.#accepted + ACCEPTED_BETWEEN;
        await until(
          'more is accepted, and all processes listen',
          () => this.#accepted >= enough && processes.areAlive(),
        );
        await trouble();
      }
    }
    this.#isCalm = true;
  }

  /** Sends events of the same id from all senders at the same time. */
  async #sendIds(): Promise<void> {
    while (this.ids.length < LEAST_IDS || !this.#isCalm) {
      const number = this.ids.length;
      // Every other one looks like a key of another sender.
      const id = number % 2 === 0 ? `evt_${number}` : keyOf('stripe/m1', `evt_${number - 1}`);
      this.ids.push(id);
      const poison = number % POISON_EVERY === 0 ? pick(HANDLERS) : undefined;
      await Promise.all(senders.map((sender) => this.#send(sender, id, poison)));
    }
  }

  /** Sends an event until it is accepted, by the schedule of its sender, and sometimes once more. */
  async #send({ name, provider, pausesMs }: Sender, id: string, poison: string | undefined): Promise<void> {
    const data = { id: 'TR_1', sender: name, poison };
    const event = { ...createEvent('transfer.created', data, { provider }), id };
    const deliverOnce = () => this.#deliver(name, event, { key: `${KEY} ${name}`, provider });
    let attempts = 0;
    await until(
      `the event ${id} of ${name} is accepted`,
      async () => {
        const twice = Math.random() < 0.3 ? [deliverOnce()] : [];
        const answers = await Promise.all([deliverOnce(), ...twice]);
        if (answers.includes(true)) return true;
        await pause(pausesMs[attempts] ?? pausesMs.at(-1) ?? 0);
        attempts += 1;
        return false;
      },
      PATIENCE_MS,
    );
    this.#accepted += 1;
    if (Math.random() < 0.2) await deliverOnce();
  }

  /** Resolves with true if the event was accepted. */
  async #deliver(path: string, event: object, signing: Pick<DeliverOptions, 'key' | 'provider'>) {
    const url = this.processes.anyUrl();
    if (url === undefined) return false;
    this.counts.deliveries += 1;
    try {
      const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
      const response = await deliver(`${url}${path}`, event, { ...signing, signal });
      await response.text();
      if (!response.ok) this.counts.refused += 1;
      return response.ok;
    } catch {
      this.counts.cut += 1;
      return false;
    }
  }

  /** Gives each dead letter to both receivers. Resolves with true if none is left. */
  async #replay(): Promise<boolean> {
    const response = await fetch(`${this.processes.anyUrl()}replay`);
    const answers: { own: string; receiver: string; code?: string }[] = JSON.parse(await response.text());
    for (const { own, receiver, code } of answers)
      expect(code === 'provider_mismatch').toBe(own !== receiver);
    return answers.length === 0;
  }
}

/** Each letter has the provider and the key of the sender that its event names, and each sender has some. */
function expectOwn(letters: readonly DeadLetter[]): void {
  const nameOf = ({ provider = 'banking-service', account }: DeadLetter): string =>
    account === undefined ? provider : `${provider}/${account}`;
  for (const letter of letters) {
    const { id, ...event } = JSON.parse(Buffer.from(letter.rawBody).toString());
    const { sender } = event.data.object ?? event.data;
    expect([nameOf(letter), letter.id]).toEqual([sender, keyOf(sender, id)]);
  }
  expect([...new Set(letters.map(nameOf))].sort()).toEqual(senders.map(({ name }) => name));
}

/** The key of an event in stores, dead letters and queues. */
function keyOf(sender: string, id: string): string {
  const [provider, account] = sender.split('/');
  if (account !== undefined) return `handled:from:6:${provider}:2:${account}:${id}`;
  return id.startsWith('handled:from:') ? `handled:${id}` : id;
}
