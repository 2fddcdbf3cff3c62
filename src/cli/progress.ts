import { writeOver } from './output.ts';

/** The last line of a terminal, which is written over as work goes on; nothing where stderr is none. */
export class Progress {
  #isShown = false;

  show(text: string): void {
    if (!process.stderr.isTTY) return;
    writeOver(text);
    this.#isShown = true;
  }

  /** To be called before anything else is printed. */
  clear(): void {
    if (this.#isShown) writeOver('');
    this.#isShown = false;
  }
}
