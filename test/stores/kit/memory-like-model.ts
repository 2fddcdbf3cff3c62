import fc from 'fast-check';
import { createMemoryStore } from 'posthorn';
import { StoreModel, storeCommands } from './model.ts';

/** Compares the memory store with the reference model in so many interleavings of operations and of time. */
export async function expectLikeModel(numRuns: number): Promise<void> {
  const start = () => {
    let time = 1_000;
    const store = createMemoryStore({ now: () => time, maxEntries: 1_000 });
    const advance = (ms: number): void => {
      time += ms;
    };
    return { model: new StoreModel(), real: { store, advance } };
  };
  const likeModel = fc.asyncProperty(storeCommands(), (commands) => fc.asyncModelRun(start, commands));
  await fc.assert(likeModel, { numRuns });
}
