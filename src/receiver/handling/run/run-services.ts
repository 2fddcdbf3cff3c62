import type { LetterOperations } from '../../dead-letters/letter-operations.ts';
import type { ClaimServices } from '../../dedupe/claim.ts';
import type { TypeLabels } from '../../events/type-rules.ts';
import type { PendingWarnings } from '../../outcomes/pending-warnings.ts';
import type { BodyMemory } from '../../request/body-memory.ts';
import type { Settings } from '../../settings.ts';
import type { KeptMiddleware } from '../handlers/middleware.ts';
import type { ConcurrencyKeys } from '../keys/concurrency-keys.ts';
import type { ConcurrencyLimit } from '../keys/concurrency-limit.ts';

/** The services that all runs of a receiver share. */
export interface RunServices extends ClaimServices {
  readonly settings: Settings;
  readonly letters: LetterOperations | undefined;
  readonly bodyMemory: BodyMemory;
  readonly keys: ConcurrencyKeys;
  /** Undefined without `maxRunning`. */
  readonly permits: ConcurrencyLimit | undefined;
  /** Takes the problems that arise after the last report of their run. */
  readonly pendingWarnings: PendingWarnings;
  /** The labels of a type, for middlewares. */
  readonly labelsOf: (type: string) => TypeLabels;
  /** The middlewares around each handler, the outermost first. */
  readonly middlewares: readonly KeptMiddleware[];
}
