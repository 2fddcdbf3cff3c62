import type { LetterOperations } from '../dead-letters/letter-operations.ts';
import type { ClaimServices } from '../dedupe/claim.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { Settings } from '../settings.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { KeptMiddleware } from './middleware.ts';

/** The services that all runs of a receiver share. */
export interface RunServices extends ClaimServices {
  readonly settings: Settings;
  readonly letters: LetterOperations | undefined;
  readonly bodyMemory: BodyMemory;
  /** Undefined without `maxRunning`. */
  readonly concurrency: ConcurrencyLimit | undefined;
  /** Run around each handler, the outermost first. */
  readonly middlewares: readonly KeptMiddleware[];
}
