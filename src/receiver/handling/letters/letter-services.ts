import type { LetterOperations } from '../../dead-letters/letter-operations.ts';
import type { ClaimServices } from '../../dedupe/claim.ts';
import type { Settings } from '../../settings.ts';

/** The services for work on the dead letter of an event. */
export interface LetterServices extends ClaimServices {
  readonly settings: ClaimServices['settings'] & Pick<Settings, 'now' | 'deadlineMs' | 'provider'>;
  /** Undefined without dead letters. */
  readonly letters: LetterOperations | undefined;
  /** The runs of this process, by the ids that they claim. */
  readonly runs: { readonly find: (claimId: string) => object | undefined };
}
