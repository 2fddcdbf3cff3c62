/**
 * What a run knows of the dead letter of its event: nothing (`none`), that an earlier one was read (`found`),
 * or that its own is being written, was written, or could not be written (`failed`).
 */
export type LetterKnowledge = 'none' | 'found' | 'writing' | 'written' | 'failed';

/** The part of an origin that says something of the letter; the same for all runs of that origin. */
export interface LetterOrigin {
  /** True if the event may have a letter from the start. */
  readonly mayBeParked: boolean;
  /** True if a success removes the letter. Otherwise a worker handles the event, and may have stored it. */
  readonly removesLetter: boolean;
  /** True if a queue parks the event of a job that takes too long. */
  readonly queueParks: boolean;
}

/** What the moment says of the letter. */
export interface LetterMoment {
  /** The run has claimed the event. */
  readonly isClaimed: boolean;
  /** The store knows of an earlier attempt, which may have stored a letter. */
  readonly hasEarlierAttempt: boolean;
  /** The run was aborted: another process may have taken the event. */
  readonly isAborted: boolean;
  readonly isPastDeadline: boolean;
  /** By the age of the event, no retry can be counted on. */
  readonly isFinalByAge: boolean;
}

/** All on which the questions about a letter depend. */
export interface LetterFacts {
  readonly known: LetterKnowledge;
  /** True if a letter is stored, by this run or before it. */
  readonly isStored: boolean;
  readonly origin: LetterOrigin;
  readonly moment: LetterMoment;
}

/** When a letter is removed at an end of its run. */
type Removal = 'never' | 'at once' | 'if completed' | 'unless released';

/** The answers to the questions about a letter. */
export interface LetterAnswers {
  /** This run has begun to write a letter. */
  readonly isBegun: boolean;
  /** This run may have left a letter, or was told of one. */
  readonly isOwn: boolean;
  /** There may be a letter, of this run or of another one. */
  readonly mayExist: boolean;
  /** The removal at each end of the run. */
  readonly removal: Readonly<Record<'success' | 'duplicate' | 'busy' | 'givenBack', Removal>>;
}

/** The answers without dead letters. */
export const noLetter: LetterAnswers = {
  isBegun: false,
  isOwn: false,
  mayExist: false,
  removal: { success: 'never', duplicate: 'never', busy: 'never', givenBack: 'never' },
};

/** Answers the questions about a letter; `test/receiver/handling/letter-answers.txt` has all combinations. */
export function answersOf({ known, isStored, origin, moment }: LetterFacts): LetterAnswers {
  const isOwn = known !== 'none' || origin.mayBeParked;
  const mayExist = isOwn || mayBeOfOther(origin, moment);
  const ofHandled = origin.removesLetter ? 'at once' : 'if completed';
  const isBegun = known !== 'none' && known !== 'found';
  return {
    isBegun,
    isOwn,
    mayExist,
    removal: {
      success: mayExist && origin.removesLetter ? 'at once' : 'never',
      duplicate: mayExist ? ofHandled : 'never',
      // Another process has the event, and may have completed it before the letter was stored.
      busy: isBegun && isStored ? 'if completed' : 'never',
      givenBack: isOwn ? 'unless released' : 'never',
    },
  };
}

/** True if another attempt, or the queue, may have stored a letter. */
function mayBeOfOther({ queueParks }: LetterOrigin, moment: LetterMoment): boolean {
  // A delivery whose event is completed says nothing of a letter. A job may not know of its letter.
  if (!moment.isClaimed && !queueParks) return false;
  const hasParked = queueParks && moment.isPastDeadline;
  return hasParked || moment.hasEarlierAttempt || moment.isAborted || moment.isFinalByAge;
}
