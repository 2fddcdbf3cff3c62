import type { Warning } from './report.ts';

const NONE: readonly Warning[] = [];

/** Warnings that belong to no delivery: the next report has them. */
export class PendingWarnings {
  #pending: readonly Warning[] = NONE;
  readonly #told = new Set<string>();

  add(...warnings: readonly Warning[]): void {
    this.#pending = [...this.#pending, ...warnings];
  }

  /** Warns of what a function of the application returned, once for each name of such a function. */
  readonly addMisuse = (name: string, problem: string): void => {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.add(`return_value_invalid: ${problem}`);
  };

  take(): readonly Warning[] {
    const taken = this.#pending;
    this.#pending = NONE;
    return taken;
  }
}
