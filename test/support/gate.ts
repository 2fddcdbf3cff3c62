import { tests } from './running-test.ts';
import { Seen } from './seen.ts';

/** Lets everyone pass until it is shut; then it holds them until it is opened again, or the test is over. */
export class Gate {
  /** One entry for everyone who had to wait. */
  readonly held: Seen<true> = new Seen();
  #opened: Promise<void> | undefined;
  #resolve: () => void = () => {};

  constructor() {
    tests.getStore()?.whenOver(() => this.open());
  }

  readonly shut = (): void => {
    this.#opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  };

  readonly open = (): void => {
    this.#opened = undefined;
    this.#resolve();
  };

  readonly pass = async (): Promise<void> => {
    if (this.#opened === undefined) return;
    this.held.add(true);
    await this.#opened;
  };
}

/** A gate that is shut already. */
export function shutGate(): Gate {
  const gate = new Gate();
  gate.shut();
  return gate;
}
