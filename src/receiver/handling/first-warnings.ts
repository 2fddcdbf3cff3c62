import { exposureOf } from '../dead-letters/exposure.ts';
import { isMemoryStore } from '../dedupe/memory.ts';
import { storesForSeveralProcesses } from '../dedupe/several-processes.ts';
import type { Settings } from '../options.ts';
import type { Warning } from '../outcomes/report.ts';

/** Warnings about the options of a receiver, for its first report. */
export function firstWarnings({
  deadLetters,
  queue,
  store,
}: Pick<Settings, 'deadLetters' | 'queue' | 'store'>): Warning[] {
  const warnings: Warning[] = [];
  if (deadLetters === undefined) warnings.push(DEAD_LETTERS_MISSING);
  if (isMemoryStore(store)) {
    const stores = storesForSeveralProcesses();
    if (queue !== undefined) warnings.push(QUEUE_WITH_MEMORY_STORE);
    else if (stores !== undefined) warnings.push(memoryStoreShared(stores));
  }
  const exposure = exposureOf(deadLetters);
  if (exposure !== undefined) warnings.push(`dead_letters_exposed: ${exposure}`);
  return warnings;
}

const DEAD_LETTERS_MISSING: Warning =
  'dead_letters_missing: without the option deadLetters an event that keeps failing can get the whole endpoint cut off';

function memoryStoreShared(stores: string): Warning {
  const problem = 'this process is one of several, and each handles an event once by its own memory store';
  return `memory_store_shared: ${problem}; share a store: ${stores}`;
}

/**
 * Also for a process that receives and works: its jobs outlive a restart, and the Redis of its queue could
 * hold the ids as well.
 */
const QUEUE_WITH_MEMORY_STORE: Warning =
  'memory_store_shared: the jobs of a queue outlive this process or run in another one, and a memory store serves this process alone, so an event can be handled twice; share a store between receivers and workers, such as createRedisStore of posthorn/redis';
