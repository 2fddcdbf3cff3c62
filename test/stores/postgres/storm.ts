import { join } from 'node:path';
import type { WebhookEvent } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { type ChildProgram, packageRoot, startProgram } from '../../support/child-program.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';

const WORKERS = 3;
const SENDERS = 10;
/** Far more than a process takes to start on a busy machine. */
const PATIENCE_MS = 60_000;

/** What a storm does, and for how long. */
export interface StormOptions {
  /** Tells the storm's random numbers from another's. */
  readonly seed: number;
  readonly leastEvents: number;
  readonly leastKills: number;
  /** What befalls the servers, one after the other while events are sent. */
  readonly troubles: readonly ((storm: Storm) => Promise<void>)[];
  /** For the workers: their servers. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether an acknowledged event is booked; may reject while the server is away. */
  readonly isBooked: (event: { readonly id: string }) => Promise<boolean>;
}

interface Worker {
  readonly program: ChildProgram;
  readonly url: string;
}

/** Three receivers that are killed and started again, and a sender that retries and sends duplicates. */
export class Storm {
  readonly acknowledged = new Set<string>();
  /** Acknowledged, and not booked at that moment. */
  readonly early: string[] = [];
  /** What workers have printed that ended without being killed. */
  readonly crashes: string[] = [];
  readonly counts = {
    events: 0,
    deliveries: 0,
    refused: 0,
    cut: 0,
    kills: 0,
    diedAfterCommit: 0,
    skipped: 0,
  };
  readonly #events: WebhookEvent[] = [];
  readonly #options: StormOptions;
  readonly #random: () => number;
  readonly #running: (Worker | undefined)[] = [];
  #troublesLeft: number;
  #isOver = false;

  constructor(options: StormOptions) {
    this.#options = options;
    this.#random = randomNumbers(options.seed);
    this.#troublesLeft = options.troubles.length;
  }

  /** Resolves once all events are acknowledged. */
  async run(): Promise<void> {
    const keptAlive = Array.from({ length: WORKERS }, (_, place) => this.#keepAlive(place));
    await Promise.all([
      this.#kill(),
      this.#trouble(),
      ...Array.from({ length: SENDERS }, () => this.#send()),
    ]);
    await this.#sendAgain();
    await this.stop();
    await Promise.all(keptAlive);
  }

  /** Ends the workers. */
  async stop(): Promise<void> {
    this.#isOver = true;
    for (const worker of this.#running) worker?.program.kill('SIGKILL');
    await Promise.all(this.#running.map((worker) => worker?.program.exit));
  }

  /** Resolves once so many more deliveries have been answered or cut off, or no more come. */
  async deliveries(count: number): Promise<void> {
    const enough = this.counts.deliveries + count;
    const isEnough = (): boolean => this.counts.deliveries >= enough || this.#isEnough;
    await until(`${count} more deliveries`, isEnough, PATIENCE_MS);
  }

  get #isEnough(): boolean {
    const { leastEvents, leastKills } = this.#options;
    return this.counts.events >= leastEvents && this.counts.kills >= leastKills && this.#troublesLeft === 0;
  }

  /** Starts a worker in its place whenever the one before has ended. */
  async #keepAlive(place: number): Promise<void> {
    while (!this.#isOver) {
      const program = startProgram(
        join(packageRoot, 'test', 'stores', 'postgres', 'storm-worker.mjs'),
        // It ends by itself after so many completions.
        { PATH: process.env.PATH, KEY, COMPLETIONS: String(this.#between(10, 30)), ...this.#options.env },
        packageRoot,
      );
      const [, port] = (await program.line(/^listening /)).split(' ');
      this.#running[place] = { program, url: `http://127.0.0.1:${port}/` };
      if (this.#isOver) program.kill('SIGKILL');
      // A kill leaves no exit code.
      if ((await program.exit) !== null) this.crashes.push(program.lines.join('\n'));
      this.#running[place] = undefined;
      this.counts.diedAfterCommit += count(program, /^committed /);
      this.counts.skipped += count(program, / processed handled_before /);
    }
  }

  async #kill(): Promise<void> {
    while (!this.#isEnough) {
      await this.deliveries(this.#between(15, 50));
      const worker = this.#running[this.#between(0, WORKERS - 1)];
      if (worker === undefined) continue;
      worker.program.kill('SIGKILL');
      this.counts.kills += 1;
    }
  }

  async #trouble(): Promise<void> {
    for (const trouble of this.#options.troubles) {
      await this.deliveries(this.#between(30, 60));
      await trouble(this);
      this.#troublesLeft -= 1;
    }
  }

  async #send(): Promise<void> {
    while (!this.#isEnough) {
      const event = createEvent('transfer.succeeded', { amount: this.#between(1, 5_000) });
      this.counts.events += 1;
      this.#events.push(event);
      await this.#sendUntilAcknowledged(event);
    }
  }

  /** Whatever the stores have forgotten by now, nothing runs again. */
  async #sendAgain(): Promise<void> {
    const left = [...this.#events];
    const send = async (): Promise<void> => {
      for (let event = left.pop(); event !== undefined; event = left.pop())
        await this.#sendUntilAcknowledged(event);
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
  }

  async #sendUntilAcknowledged(event: WebhookEvent): Promise<void> {
    await until(
      'the event is acknowledged',
      async () => {
        const times = this.#random() < 0.4 ? this.#between(2, 3) : 1;
        const answers = await Promise.all(Array.from({ length: times }, () => this.#deliver(event)));
        return answers.includes(true);
      },
      PATIENCE_MS,
    );
  }

  async #deliver(event: WebhookEvent): Promise<boolean> {
    const worker = this.#running[this.#between(0, WORKERS - 1)];
    if (worker === undefined) return false;
    const status = await deliver(worker.url, event, { key: KEY }).then(
      async (answer) => {
        await answer.text();
        return answer.status;
      },
      () => undefined,
    );
    this.counts.deliveries += 1;
    if (status === undefined) this.counts.cut += 1;
    else if (status !== 200) this.counts.refused += 1;
    if (status !== 200) return false;
    await this.#acknowledge(event);
    return true;
  }

  async #acknowledge(event: WebhookEvent): Promise<void> {
    this.acknowledged.add(event.id);
    let isBooked = false;
    await until('the server tells what is booked', async () => {
      return this.#options.isBooked(event).then(
        (answer) => {
          isBooked = answer;
          return true;
        },
        () => false,
      );
    });
    if (!isBooked) this.early.push(event.id);
  }

  #between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }
}

function count({ lines }: ChildProgram, pattern: RegExp): number {
  return lines.filter((line) => pattern.test(line)).length;
}

/** Numbers from 0 to 1, always the same for a seed: https://en.wikipedia.org/wiki/Xorshift */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
