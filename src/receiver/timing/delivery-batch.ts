import { inNextTurn } from './next-turn.ts';

/**
 * A larger batch makes the first delivery wait for the last, without any gain, and uses more memory at once.
 * In one turn Node.js reads from every connection, and the streams of waiting deliveries hold their bodies.
 * No limit counts these, and they may be in chunks of one byte.
 */
const MAX_BATCH_SIZE = 64;

let batch: Promise<void> | undefined;
let beginBatch: () => void = () => {};
let count = 0;

/**
 * Resolves when the event loop has read from all sockets with input, or at once when a batch is full.
 * Deliveries that arrived together then go through each step together, while the code of the step is in the
 * caches of the processor: "the whole" in `bench/micro/delivery.js` times one delivery alone and fifty at
 * once. Their operations on a store can share a command.
 */
export function nextBatch(): Promise<void> {
  const joined = batch ?? openBatch();
  count += 1;
  if (count === MAX_BATCH_SIZE) beginBatch();
  return joined;
}

function openBatch(): Promise<void> {
  count = 0;
  const opened = new Promise<void>((resolve) => {
    beginBatch = () => {
      if (batch === opened) batch = undefined;
      resolve();
    };
  });
  batch = opened;
  inNextTurn(beginBatch);
  return opened;
}

/**
 * Resolves when the answers that have been given are sent. The answer to a large body waits for one batch,
 * and servers send a web Response a turn later.
 */
export async function answersSent(): Promise<void> {
  await nextBatch();
  await nextBatch();
}
