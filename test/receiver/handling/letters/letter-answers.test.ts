import { expect, test } from 'vitest';
import { Run } from '../../../../src/receiver/handling/run/run.ts';
import {
  answerBusy,
  answerDuplicate,
  recordSuccess,
  releaseClaim,
} from '../../../../src/receiver/handling/run/run-end.ts';
import { rulesOfDelays } from '../../../../src/receiver/provider/retry-rules.ts';

// What a run knows of its letter, what its origin says, and what the moment says, in every combination.

const knowledge = [
  'no letters',
  'none',
  'found',
  'writing',
  'written',
  'failed',
  'replacing',
  'not replaced',
];
const combinations = <Name extends string>(...names: Name[]): Record<Name, boolean>[] =>
  Array.from({ length: 2 ** names.length }, (_, bits) =>
    Object.fromEntries(names.map((name, index) => [name, (bits & (1 << index)) !== 0])),
  ) as Record<Name, boolean>[];
const origins = combinations('mayBeParked', 'removesLetter', 'queueParks');
const moments = combinations(
  'isClaimed',
  'hasEarlierAttempt',
  'mayBeTaken',
  'isPastDeadline',
  'isFinalByAge',
);

function letterOf(known: string, note: (removal: string) => void) {
  const storedAs = ['found', 'written', 'replacing', 'not replaced'].includes(known) ? 'evt' : undefined;
  if (known === 'no letters') return undefined;
  return {
    known: { replacing: 'writing', 'not replaced': 'failed' }[known] ?? known,
    storedAs,
    remove: async () => note('r'),
    removeIfCompleted: async () => note('c'),
    removeIfCompletedMeanwhile: async () => note('u'),
  };
}

function runOf(
  known: string,
  origin: object,
  moment: Record<string, boolean>,
  note: (removal: string) => void = () => {},
) {
  return Object.create(Run.prototype, {
    letter: { value: letterOf(known, note) },
    input: {
      value: {
        identity: { id: 'evt', key: 'evt', type: 'transfer.created', createdAtMs: 0, provider: 'p' },
        origin: { ...origin, successOutcome: 'processed' },
        deadline: { isPast: moment.isPastDeadline },
      },
    },
    services: {
      value: {
        settings: {
          now: () => (moment.isFinalByAge ? 3_600_000 : 0),
          retries: rulesOfDelays([60_000, 300_000, 900_000]),
        },
      },
    },
    progress: { value: { attempt: moment.isClaimed ? 1 : undefined, handled: [] } },
    hasEarlierAttempt: { value: moment.hasEarlierAttempt },
    interruption: { value: { isAborted: moment.mayBeTaken } },
    state: { value: { step: 'waiting', otherEndsAt: 0 } },
    enter: { value: () => {} },
    claim: { value: { complete: async () => true, release: async () => ({ state: 'released' }) } },
    resources: { value: { giveBackAll: () => {} } },
    warnings: { value: [] },
  }) as Run;
}

const answer = { outcome: 'processed', id: 'evt', error: undefined } as const;
const ends: [string, (run: Run) => unknown][] = [
  ['success', recordSuccess],
  ['duplicate', answerDuplicate],
  ['busy', answerBusy],
  ['given back', (run) => releaseClaim(run, answer)],
];

async function removalAt(
  end: (run: Run) => unknown,
  known: string,
  origin: object,
  moment: Record<string, boolean>,
): Promise<string> {
  let removal = '-';
  await end(
    runOf(known, origin, moment, (kind) => {
      removal = kind;
    }),
  );
  return removal;
}

test('the questions about a letter have the recorded answers', async () => {
  let record = '';
  for (const known of knowledge)
    for (const origin of origins) {
      const said = Object.entries(origin).flatMap(([name, is]) => (is ? [name] : []));
      record += `${[known, ...said].join(' ')}\n`;
      const answers = moments.map((moment) => runOf(known, origin, moment).letterRules);
      record += `  may exist: ${answers.map(({ mayExist }) => Number(mayExist)).join('')}\n`;
      record += `  is known: ${answers.map(({ isKnown }) => Number(isKnown)).join('')}\n`;
      for (const [name, end] of ends) {
        const removals = await Promise.all(moments.map((moment) => removalAt(end, known, origin, moment)));
        record += `  ${name}: ${removals.join('')}\n`;
      }
    }
  await expect(record).toMatchFileSnapshot('letter-answers.txt');
});
