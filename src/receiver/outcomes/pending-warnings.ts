import type { Warning } from './report.ts';

const NONE: readonly Warning[] = [];

/** Warnings that do not belong to a delivery. The next report carries them. */
export class PendingWarnings {
  #pending: readonly Warning[] = NONE;
  readonly #told = new Set<string>();

  add(...warnings: readonly Warning[]): void {
    this.#pending = [...this.#pending, ...warnings];
  }

  /** Warns once for each function of the application that returned a wrong value. */
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
