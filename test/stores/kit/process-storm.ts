import type { WebhookEvent } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import type { ChildProgram } from '../../support/child-program.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';

const SENDERS = 10;
const RETRY_PAUSE_MS = 30;
const ANSWER_LIMIT_MS = 8_000;
const PATIENCE_MS = 60_000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const between = (least: number, most: number) => least + Math.floor(Math.random() * (most - least + 1));

/** Whether an action has not thrown. */
export function tryTo(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/**
 * A sender that retries and sends duplicates, while processes are killed and other troubles come. The
 * program prints `worker <pid>` for each process that listens, `killed <pid>` once it has ended, and
 * `pending <id>` if an event was answered before the store had taken its completion.
 */
export class ProcessStorm {
  readonly acknowledged = new Map<string, WebhookEvent>();
  readonly counts = { events: 0, answered: 0, refused: 0, cut: 0, kills: 0 };
  readonly #program: ChildProgram;
  readonly #url: string;
  readonly #leastEvents: number;
  readonly #handledAgain = new Set<string>();
  #troublesLeft = 0;

  constructor(program: ChildProgram, url: string, leastEvents: number) {
    this.#program = program;
    this.#url = url;
    this.#leastEvents = leastEvents;
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

  /**
   * Ids that were completed, and handled once more by a later delivery. A completion that the store did not
   * take in time dies with its process, and its report says so: `completion_pending`.
   */
  get handledAgain(): readonly string[] {
    return [...this.#handledAgain].filter((id) => !this.#program.lines.includes(`pending ${id}`));
  }

  /** Freezes a process for a while. */
  async freeze(ms: number): Promise<void> {
    const pid = this.randomWorker();
    if (pid === undefined || !tryTo(() => process.kill(pid, 'SIGSTOP'))) return;
    await pause(ms);
    tryTo(() => process.kill(pid, 'SIGCONT'));
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
    return this.counts.events >= this.#leastEvents && this.#troublesLeft === 0;
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
      if (wasCompleted && outcomes.includes('processed')) this.#handledAgain.add(event.id);
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
