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
   * True if a success removes the dead letter. False if a worker handles the event, which may have stored it.
   */
  readonly removesLetter: boolean;
  /** True if a queue parks the event of a job that takes too long. */
  readonly queueParks: boolean;
}

/** The facts about the dead letter that change during a run. */
export interface LetterMoment {
  /** The run has claimed the event. */
  readonly isClaimed: boolean;
  /** The store knows of an earlier attempt, which may have stored a dead letter. */
  readonly hasEarlierAttempt: boolean;
  /** The run was aborted: another process may have taken the event. */
  readonly isAborted: boolean;
  readonly isPastDeadline: boolean;
  /** The event is so old that no retry can be counted on. */
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

/** The condition for removing the dead letter at an end of its run. */
type Removal = 'never' | 'at once' | 'if completed' | 'unless released';

/** The rules for a dead letter, at one moment of its run. */
export interface LetterRules {
  /** This run has begun to write a dead letter. */
  readonly isBegun: boolean;
  /** This run may have stored a dead letter, or knows of one from the start. */
  readonly isOwn: boolean;
  /** There may be a dead letter, from this run or another one. */
  readonly mayExist: boolean;
  /** The removal at each end of the run. */
  readonly removal: Readonly<Record<'success' | 'duplicate' | 'busy' | 'givenBack', Removal>>;
}

/** The rules without dead letters. */
export const noLetterRules: LetterRules = {
  isBegun: false,
  isOwn: false,
  mayExist: false,
  removal: { success: 'never', duplicate: 'never', busy: 'never', givenBack: 'never' },
};

/**
 * Returns the rules that follow from the facts; `test/receiver/handling/letter-answers.txt` has all
 * combinations.
 */
export function letterRulesOf({ known, isStored, origin, moment }: LetterFacts): LetterRules {
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
      // Another process has the event, and may have completed it before the dead letter was stored.
      busy: isBegun && isStored ? 'if completed' : 'never',
      givenBack: isOwn ? 'unless released' : 'never',
    },
  };
}

/** True if another attempt, or the queue, may have stored a dead letter. */
function mayBeOfOther({ queueParks }: LetterOrigin, moment: LetterMoment): boolean {
  // A delivery that did not get its claim has no sign of a dead letter. A job may have one without a sign.
  if (!moment.isClaimed && !queueParks) return false;
  const hasParked = queueParks && moment.isPastDeadline;
  return hasParked || moment.hasEarlierAttempt || moment.isAborted || moment.isFinalByAge;
}
