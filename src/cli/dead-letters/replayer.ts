import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { Output } from '../output.ts';
import { Progress } from '../progress.ts';
import type { ReceiverModule } from '../receiver-module.ts';
import { colours, joined, type Printable } from '../terminal-text.ts';
import { nameOf, senderFields } from './letter-sender.ts';

export interface Failure {
  readonly id: string;
  /** The code of its error, or else its outcome. */
  readonly reason: string;
}

/** Replays dead letters one after the other, prints the result of each, and keeps the count. */
export class Replayer {
  readonly #receiver: ReceiverModule['receiver'];
  readonly #deadLetters: DeadLetters;
  readonly #output: Output;
  readonly #progress = new Progress();
  readonly #failures: Failure[] = [];
  #replayed = 0;

  constructor(receiver: ReceiverModule['receiver'], deadLetters: DeadLetters, output: Output) {
    this.#receiver = receiver;
    this.#deadLetters = deadLetters;
    this.#output = output;
  }

  get replayed(): number {
    return this.#replayed;
  }

  get failures(): readonly Failure[] {
    return this.#failures;
  }

  /** Resolves with true if the dead letter is gone. `place` says which of how many dead letters it is. */
  async replay(id: string, place: string): Promise<boolean> {
    const letter = await this.#deadLetters.get(id);
    if (letter === undefined) return true; // replayed or dropped elsewhere meanwhile
    this.#progress.show(`replaying ${place}, ${this.#failures.length} failed so far: ${id}`);
    const report = await this.#receiver.replay(letter);
    const succeeded = isGood(report);
    if (succeeded) {
      await this.#deadLetters.remove(id); // the receiver removes only from its own dead letters
      this.#replayed += 1;
    } else this.#failures.push({ id, reason: report.code ?? report.outcome });
    this.#progress.clear();
    printReplay(letter, report, this.#output);
    return succeeded;
  }

  /** Says what becomes of a dead letter whose replay ends with the process. */
  abandon(id: string): void {
    this.#progress.clear();
    this.#output.note(
      `posthorn: ${id} was not finished: it counts as running for maxRunMs (4 minutes by default), and is ` +
        'skipped until then',
    );
  }
}

const IS_GOOD: Readonly<Record<Report['outcome'], boolean>> = {
  processed: true,
  duplicate: true,
  ignored: false,
  queued: false,
  handshake: false,
  parked: false,
  rejected: false,
  failed: false,
  busy: false,
};

function isGood({ outcome }: Report): boolean {
  return IS_GOOD[outcome];
}

function printReplay(letter: DeadLetter, report: Report, output: Output): void {
  const { id, type } = letter;
  const { outcome, error, handlers, warnings } = report;
  const errorFields = error && { code: error.code, message: messageOf(error) };
  output.print(
    { kind: 'replay', id, ...senderFields(letter), type, outcome, ...errorFields, handlers, warnings },
    () => {
      const parts: Printable[] = [
        (isGood(report) ? colours.good : colours.bad)(outcome),
        `${type ?? '?'} ${nameOf(letter)}`,
      ];
      if (outcome === 'ignored') parts.push('no handler is registered for its type; the dead letter stays');
      if (errorFields !== undefined) parts.push(`${errorFields.code}: ${errorFields.message}`);
      parts.push(...warnings.map(colours.doubtful));
      return joined(parts);
    },
  );
}
