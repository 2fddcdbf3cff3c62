import { writeOver } from './output.ts';

/**
 * The last line of a terminal, overwritten as work goes on. Anything else that the process writes, such as
 * the log of a receiver, clears it first. Prints nothing if stderr is not a terminal.
 */
export class Progress {
  #stopWatching: (() => void) | undefined;

  show(text: string): void {
    if (!process.stderr.isTTY) return;
    this.#stopWatching?.();
    writeOver(text);
    const stops = [process.stdout, process.stderr].map((stream) => beforeWrite(stream, () => this.clear()));
    this.#stopWatching = () => {
      for (const stop of stops) stop();
    };
  }

  clear(): void {
    if (this.#stopWatching === undefined) return;
    this.#stopWatching();
    this.#stopWatching = undefined;
    writeOver('');
  }
}

/** Calls `listener` before each write to a stream, until the returned function is called. */
function beforeWrite(stream: NodeJS.WriteStream, listener: () => void): () => void {
  const { write } = stream;
  stream.write = new Proxy(write, {
    apply: (target, self, args) => {
      listener();
      return Reflect.apply(target, self, args);
    },
  });
  return () => {
    stream.write = write;
  };
}
