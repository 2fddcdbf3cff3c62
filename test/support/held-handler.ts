import type { HandlerContext } from 'posthorn';
import { tests } from './running-test.ts';
import { Seen } from './seen.ts';

/** One call of a {@link HeldHandler}. */
export interface HeldCall {
  readonly context: HandlerContext;
  readonly succeed: () => void;
  readonly fail: (error: unknown) => void;
}

/** A handler of which every call lasts until the test ends it, or is over. */
export class HeldHandler {
  readonly calls: Seen<HeldCall> = new Seen();

  readonly handle = (_event: unknown, context: HandlerContext): Promise<void> =>
    new Promise((resolve, reject) => {
      this.calls.add({ context, succeed: resolve, fail: reject });
      tests.getStore()?.whenOver(resolve);
    });
}
