/**
 * The knowledge of a run about the dead letter of its event. `none`: it knows of none. `found`: it has read
 * an earlier one. The others are about its own: it is being written, was written, or could not be written.
 */
export type LetterKnowledge = 'none' | 'found' | 'writing' | 'written' | 'failed';

/** The facts about the dead letter that are the same for all runs of an origin. */
export interface LetterOrigin {
  /** True if the event may have a dead letter from the start. */
  readonly mayBeParked: boolean;
  /**
   * True if a success removes the dead letter. False if a success only enqueues the event: a worker may have
   * stored the dead letter.
   */
  readonly removesLetter: boolean;
  /** True if a queue parks the event of a job that takes too long. */
  readonly queueParks: boolean;
}

/** The facts about the dead letter that change during a run. */
export interface LetterMoment {
  /** True if the run has claimed the event. */
  readonly isClaimed: boolean;
  /** True if the store knows of an earlier attempt, which may have stored a dead letter. */
  readonly hasEarlierAttempt: boolean;
  /** True if another process may have taken the event: the run was aborted, or missed a renewal. */
  readonly mayBeTaken: boolean;
  readonly isPastDeadline: boolean;
  /** True if the event is so old that no retry is certain. */
  readonly isFinalByAge: boolean;
}

/** All facts on which the rules depend. */
export interface LetterFacts {
  readonly known: LetterKnowledge;
  /** True if a dead letter is stored, by this run or before it. */
  readonly isStored: boolean;
  readonly origin: LetterOrigin;
  readonly moment: LetterMoment;
}

/** When the dead letter is removed at an end of its run. For `if completed meanwhile` see `EventLetter`. */
type Removal = 'never' | 'at once' | 'if completed' | 'if completed meanwhile';

/** The rules for a dead letter, at one moment of its run. */
export interface LetterRules {
  /** True if this run has begun to write a dead letter. */
  readonly hasBegunWriting: boolean;
  /**
   * True if this run has found a dead letter or begun to write one, or if there may be one from the start.
   */
  readonly isKnown: boolean;
  /** True if there may be a dead letter, from this run or another one. */
  readonly mayExist: boolean;
  /** The removal at each end of the run. */
  readonly removal: Readonly<Record<'success' | 'duplicate' | 'busy' | 'givenBack', Removal>>;
}

/** The rules if the receiver has no dead letters. */
export const noLetterRules: LetterRules = {
  hasBegunWriting: false,
  isKnown: false,
  mayExist: false,
  removal: { success: 'never', duplicate: 'never', busy: 'never', givenBack: 'never' },
};

/**
 * Returns the rules that follow from the facts; `test/receiver/handling/letters/letter-answers.txt` has all
 * combinations.
 */
export function letterRulesOf({ known, isStored, origin, moment }: LetterFacts): LetterRules {
  const isKnown = known !== 'none' || origin.mayBeParked;
  const mayExist = isKnown || mayBeOfOther(origin, moment);
  const ofHandled = origin.removesLetter ? 'at once' : 'if completed';
  const ofGivenBack = origin.removesLetter ? 'if completed meanwhile' : 'if completed';
  const hasBegunWriting = known !== 'none' && known !== 'found';
  return {
    hasBegunWriting,
    isKnown,
    mayExist,
    removal: {
      success: mayExist && origin.removesLetter ? 'at once' : 'never',
      duplicate: mayExist ? ofHandled : 'never',
      // Another process has the event, and may have completed it before the dead letter was stored.
      busy: hasBegunWriting && isStored ? 'if completed' : 'never',
      // A worker may have the job although the queue gave no answer, and its claim has an id of its own.
      givenBack: isKnown ? ofGivenBack : 'never',
    },
  };
}

/** True if another attempt, or the queue, may have stored a dead letter. */
function mayBeOfOther({ queueParks }: LetterOrigin, moment: LetterMoment): boolean {
  // Without its claim a delivery knows of no earlier attempt. The queue may have parked a job all the same.
  if (!moment.isClaimed && !queueParks) return false;
  const hasParked = queueParks && moment.isPastDeadline;
  return hasParked || moment.hasEarlierAttempt || moment.mayBeTaken || moment.isFinalByAge;
}
