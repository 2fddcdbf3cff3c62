import { escapeControls } from '../outcomes/escape.ts';

/** The last line of a terminal, which is written over as work goes on; nothing where stderr is none. */
export class Progress {
  readonly #stream: NodeJS.WriteStream = process.stderr;
  #isShown = false;

  show(text: string): void {
    if (!this.#stream.isTTY) return;
    // A line that is broken in two could not be written over.
    const line = escapeControls(text).slice(0, this.#stream.columns - 1);
    this.#stream.write(`\r\u001b[K${line}`);
    this.#isShown = true;
  }

  /** To be called before anything else is printed. */
  clear(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[K');
    this.#isShown = false;
  }
}
