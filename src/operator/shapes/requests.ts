import * as z from 'zod';
import { isPatternForm } from '../../receiver/events/pattern.ts';
import { journalOutcomes } from '../../receiver/journal/journal.ts';
import type { RerunBody } from '../events/choose.ts';
import type { EntryPageRequest } from '../events/list.ts';
import type { LetterDeedBody } from '../letters/choose.ts';
import type { PageRequest } from '../letters/list.ts';

interface Choice {
  readonly ids?: readonly string[] | undefined;
  readonly selection?: object | undefined;
  readonly after?: string | undefined;
}

const ONE_CHOICE = 'give either ids or selection; {"selection": {}} selects all';
const hasOneChoice = ({ ids, selection }: Choice): boolean =>
  (ids === undefined) !== (selection === undefined);

const PLACE_OF_SELECTION = 'after is a place in a selection: leave it out with ids';
const hasPlaceOfSelection = ({ after, ids }: Choice): boolean => after === undefined || ids === undefined;

/** The most ids of one request; 20 of them are worked on, and the answer has the others. */
const MOST_GIVEN_IDS = 1_000;

/** The most handlers of a rerun, and the most characters of the name of one. */
const MOST_HANDLERS = 100;
const MAX_NAME_LENGTH = 500;

/** The most entries of a page. */
const MOST_ON_A_PAGE = 200;
const USUAL_PAGE = 50;

const time = z.int().meta({ description: 'Milliseconds since the epoch' });
const type = z
  .string()
  .refine(isPatternForm, 'must be a type, or a pattern such as invoice.*')
  .meta({ description: 'A type, or a pattern such as `invoice.*`' });
const id = z.string().min(1);

const letterFilter = {
  type: type.optional(),
  reason: z.string().optional().meta({ description: 'The code of the error that parked the event' }),
  since: time.optional(),
  until: time.optional(),
};

const entryFilter = {
  type: type.optional(),
  outcome: z.enum(journalOutcomes).optional(),
  resource: z.string().optional().meta({ description: 'The id of the resource that events are about' }),
  since: time.optional(),
  until: time.optional(),
};

/** A query has texts only. An empty one, which an empty field of a form sends, is not the number 0. */
const queryNumber = z
  .string()
  .regex(/^-?\d+$/, 'must be an integer')
  .transform(Number);
const queryTime = queryNumber.pipe(time);

const page = {
  after: id.optional().meta({ description: 'The `after` of the page before' }),
  limit: queryNumber.pipe(z.int().min(1).max(MOST_ON_A_PAGE)).default(USUAL_PAGE),
  since: queryTime.optional(),
  until: queryTime.optional(),
};

/** The query of the list of dead letters. */
export const letterQuery: z.ZodType<PageRequest> = z.strictObject({ ...letterFilter, ...page });

/** The query of the list of events. */
export const entryQuery: z.ZodType<EntryPageRequest> = z.strictObject({ ...entryFilter, ...page });

/** The query of all other paths. */
export const noQuery: z.ZodType<object> = z.strictObject({});

const selectionDescription = 'Selects what fits all of its members; an empty one selects all';
const ids = z.array(id).min(1).max(MOST_GIVEN_IDS);
const dryRun = z.boolean().optional().meta({ description: 'Counts what would be done, and does nothing' });

/** The body of a request to replay or to drop. */
export const letterDeed: z.ZodType<LetterDeedBody> = z
  .strictObject({
    ids: ids.optional(),
    selection: z.strictObject(letterFilter).optional().meta({ description: selectionDescription }),
    after: id.optional(),
    parkedAt: time.optional().meta({ description: 'When the dead letter of `after` was parked' }),
    dryRun,
  })
  .refine(hasOneChoice, ONE_CHOICE)
  .refine(hasPlaceOfSelection, PLACE_OF_SELECTION)
  .meta({ id: 'LetterDeed' });

/** The body of a request to rerun. */
export const rerunDeed: z.ZodType<RerunBody> = z
  .strictObject({
    handlers: z
      .array(z.string().max(MAX_NAME_LENGTH))
      .min(1)
      .max(MOST_HANDLERS)
      .meta({ description: 'The names of the handlers that run once more' }),
    run: z.string().min(1).max(100).meta({
      description: 'Names the rerun: under one name each handler runs once for each event',
    }),
    reason: z.string().max(1_000).optional(),
    ids: ids.optional(),
    selection: z.strictObject(entryFilter).optional().meta({ description: selectionDescription }),
    after: id.optional(),
    dryRun,
  })
  .refine(hasOneChoice, ONE_CHOICE)
  .refine(hasPlaceOfSelection, PLACE_OF_SELECTION)
  .meta({ id: 'RerunDeed' });
