import type { DeadLetter } from '../../src/receiver/dead-letters/dead-letters.ts';
import type { SimulatedProcess } from './process.ts';
import type { ProcessName } from './scope.ts';

/** Notes whose run is beside the letter of the event, and that its process died. */
export class LetterWriters {
  /** The process whose handlers run beside the letter. */
  #writer: ProcessName | undefined;
  /** True if that process died while its handlers ran, and nothing has been parked since. */
  hasDied = false;

  /** Everything that a later check depends on. */
  get facts(): readonly unknown[] {
    return [this.#writer, this.hasDied];
  }

  notePut(process: ProcessName, { runningUntil }: DeadLetter): void {
    this.#writer = runningUntil === undefined ? undefined : process;
    if (runningUntil === undefined) this.hasDied = false;
  }

  noteRemoval(): void {
    this.#writer = undefined;
    this.hasDied = false;
  }

  noteDeath({ name, pending }: SimulatedProcess): void {
    if (this.#writer === name && pending.some(({ kind }) => kind === 'handlers')) this.hasDied = true;
  }
}
