import { writeOver } from './output.ts';

/** The last line of a terminal, overwritten as work goes on. Prints nothing if stderr is not a terminal. */
export class Progress {
  #isShown = false;

  show(text: string): void {
    if (!process.stderr.isTTY) return;
    writeOver(text);
    this.#isShown = true;
  }

  /** Must be called before anything else is printed. */
  clear(): void {
    if (this.#isShown) writeOver('');
    this.#isShown = false;
  }
}
