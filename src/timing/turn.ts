/** As it is now: tests that replace the timers of their process must not leave a delivery waiting, or without its deadline. */
export const setImmediate: typeof globalThis.setImmediate = globalThis.setImmediate;

/**
 * More would make the first wait for the last for nothing, and keep more memory in use at once: within one turn Node.js reads from every
 * connection, and the bodies of deliveries that wait lie in their streams, perhaps in chunks of one byte, where nothing counts them.
 */
const MOST_TOGETHER = 64;

let together: Promise<void> | undefined;
let begin: () => void = () => {};
let count = 0;

/**
 * Resolves when the event loop has taken in what was waiting for it. What several deliveries then do together, one step of all
 * after the other, takes little more than half the time of as many deliveries one by one: between two reads from sockets the
 * processor has forgotten the code. What they ask of a store can go out as one command. And their answers go out in one burst, which
 * wakes a load or proxy on the same machine once instead of for each.
 */
export function nextTurn(): Promise<void> {
  if (together === undefined) {
    count = 0;
    const begun = new Promise<void>((resolve) => {
      begin = () => {
        if (together === begun) together = undefined;
        resolve();
      };
      setImmediate(begin);
    });
    together = begun;
  }
  const joined = together;
  count += 1;
  if (count === MOST_TOGETHER) begin();
  return joined;
}
