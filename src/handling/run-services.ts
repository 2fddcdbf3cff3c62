import type { DeadLetters } from '../dead-letters/dead-letters.ts';
import type { LetterOperations } from '../dead-letters/letter-operations.ts';
import type { ClaimSettings } from '../dedupe/claim.ts';
import type { Completions } from '../dedupe/retries.ts';
import type { Store } from '../dedupe/store.ts';
import type { TimeLimitedStore } from '../dedupe/time-limited.ts';
import type { StandardSchemaV1 } from '../events/schema.ts';
import type { Queue } from '../queue/queue.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { KeptMiddleware } from './middleware.ts';

/** The settings that handling an event needs. */
export interface HandlingSettings extends ClaimSettings {
  readonly store: Store;
  readonly deadLetters: DeadLetters | undefined;
  readonly schemas: ReadonlyMap<string, StandardSchemaV1>;
  readonly deadlineMs: number;
  readonly maxRunMs: number;
  readonly maxRunning: number;
  readonly queue: Queue | undefined;
}

/** The services that all runs of a receiver share. */
export interface RunServices {
  readonly settings: HandlingSettings;
  readonly store: TimeLimitedStore;
  readonly letters: LetterOperations | undefined;
  readonly completions: Completions;
  readonly bodyMemory: BodyMemory;
  /** Undefined without `maxRunning`. */
  readonly concurrency: ConcurrencyLimit | undefined;
  /** Run around each handler, the outermost first. */
  readonly middlewares: readonly KeptMiddleware[];
}
