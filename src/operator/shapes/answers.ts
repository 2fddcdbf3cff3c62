import * as z from 'zod';
import { journalOutcomes } from '../../receiver/journal/journal.ts';
import { problems } from '../problem.ts';

// The schemas describe answers in the OpenAPI document. A test holds each real answer against them.

const time = z.number().meta({ description: 'Milliseconds since the epoch' });
const count = z.int().min(0);
const text = z.string();
const headers = z.record(z.string(), z.array(z.string()));
const shownError = z.object({ code: text, message: text }).optional();

const body = text.optional().meta({
  description: 'As it was signed, or as the option `mask` returns it; only for operators with `bodies`',
});
const shownHeaders = headers.optional().meta({ description: 'Only for operators with `bodies`' });

const sender = {
  eventId: text.optional().meta({ description: "The sender's id, unless `id` is" }),
  provider: text.optional(),
  account: text.optional(),
};

const letterSummary = z
  .object({
    id: text.meta({ description: 'The key of the event' }),
    ...sender,
    type: text.optional(),
    reason: text.meta({ description: 'The code of the error that parked the event' }),
    message: text,
    receivedAt: time,
    parkedAt: time,
    lastTriedAt: time.optional(),
    attempts: count,
    handled: z.array(text).meta({ description: 'The handlers that have finished' }),
    runningUntil: time.optional().meta({ description: 'Until then its handlers may be running' }),
  })
  .meta({ id: 'DeadLetterSummary' });

const after = text.optional().meta({ description: 'The place at which the next page begins' });
const unreadable = text.optional().meta({ description: 'Names a dead letter that cannot be read' });

export const letterPage: z.ZodType = z
  .object({ deadLetters: z.array(letterSummary), after, unreadable })
  .meta({ id: 'DeadLetterPage' });

export const letter: z.ZodType = letterSummary
  .extend({ body, headers: shownHeaders })
  .meta({ id: 'DeadLetter' });

const result = z.object({
  id: text,
  type: text.optional(),
  outcome: text.meta({
    description:
      'As in the report of a run; or `dropped`, `done`, `superseded`, `missing`, or `running`: it goes on after the answer, or elsewhere',
  }),
  code: text.optional(),
  message: text.optional(),
});

const stopped = z.object({ id: text, code: text, message: text }).optional().meta({
  description:
    'The error that ended the request early, because each further event would have it too. `next` begins with this event',
});

const skipped = z
  .object({
    running: count.meta({ description: 'Their handlers may still be running' }),
    old: count.meta({ description: 'Parked as `event_too_old`: only their ids replay them' }),
    others: count.meta({ description: 'Of another provider than the receiver' }),
  })
  .meta({ description: 'The dead letters of the selection that were passed over' });

const nextBody = z.record(z.string(), z.unknown()).optional().meta({
  description: 'The body of the request that goes on. Absent at the end',
});

const forecast = {
  dryRun: z.literal(true),
  count,
  selection: z.record(z.string(), z.unknown()).optional().meta({
    description: 'The selection for the deed: without what came after the count',
  }),
  next: nextBody,
};

export const letterDeedEnd: z.ZodType = z
  .union([
    z.object({ results: z.array(result), skipped, unreadable, stopped, next: nextBody }),
    z.object({
      ...forecast,
      counts: z.array(z.object({ type: text.optional(), reason: text, count })),
      skipped,
      unreadable,
    }),
  ])
  .meta({ id: 'DeadLetterDeedEnd' });

export const rerunEnd: z.ZodType = z
  .union([
    z.object({ results: z.array(result), stopped, next: nextBody }),
    z.object({
      ...forecast,
      counts: z.array(
        z.object({
          prospect: z.enum(['wouldRun', 'done', 'running', 'refused', 'missing']),
          code: text.optional(),
          count,
        }),
      ),
    }),
  ])
  .meta({ id: 'RerunEnd' });

const entrySummary = z
  .object({
    id: text.meta({ description: "The sender's id" }),
    key: text.optional().meta({ description: 'The key of the event, if it is not its id' }),
    type: text.optional(),
    provider: text,
    account: text.optional(),
    createdAt: time.optional(),
    firstReceivedAt: time,
    lastReceivedAt: time,
    deliveries: count,
    attempts: count,
    outcome: z.enum(journalOutcomes),
    code: text.optional(),
    handled: z.array(text),
    resource: text.optional(),
  })
  .meta({ id: 'EventSummary' });

export const entryPage: z.ZodType = z
  .object({ events: z.array(entrySummary), after })
  .meta({ id: 'EventPage' });

export const entry: z.ZodType = entrySummary.extend({ body, headers: shownHeaders }).meta({ id: 'Event' });

const latency = z.number();

export const health: z.ZodType = z
  .object({
    provider: text,
    closing: z.boolean(),
    running: count,
    store: z.object({
      ok: z.boolean(),
      latencyMs: latency,
      failingSince: time.optional(),
      error: shownError,
    }),
    deadLetters: z
      .object({
        ok: z.boolean(),
        waiting: count.optional(),
        more: z.boolean(),
        oldestParkedAt: time.optional(),
        error: shownError,
      })
      .optional(),
    journal: z
      .object({
        ok: z.boolean(),
        waiting: count,
        leftOut: z.object({ bodies: count, entries: count }),
        failingSince: time.optional(),
        error: shownError,
      })
      .optional(),
    lastDelivery: z.object({ receivedAt: time, outcome: text, code: text.optional() }).optional(),
  })
  .meta({ id: 'Health' });

const delivery = z.object({
  outcome: text,
  source: z.enum(['delivery', 'replay', 'job', 'accept', 'rerun']),
  status: z.int(),
  code: text.optional(),
  message: text.optional(),
  event: z
    .object({ id: text, type: text.optional(), key: text.optional(), account: text.optional() })
    .optional(),
  attempt: count.optional(),
  final: z.boolean().optional(),
  late: z.boolean(),
  answerSent: z.boolean(),
  receivedAt: time,
  durationMs: z.number(),
  endpointAtRisk: z.boolean(),
  warnings: z.array(text),
  rerun: z.object({ run: text, reason: text.optional() }).optional(),
  handlers: z.array(
    z.object({
      name: text.optional(),
      ok: z.boolean(),
      durationMs: z.number(),
      keyWaitMs: z.number().optional(),
      skipped: z.enum(['handled_before', 'superseded']).optional(),
    }),
  ),
});

export const deliveries: z.ZodType = z
  .object({
    since: time.meta({ description: 'When this process began to keep them' }),
    deliveries: z.array(delivery).meta({ description: 'The latest first' }),
  })
  .meta({ id: 'Deliveries' });

export const receivers: z.ZodType = z
  .object({
    receivers: z.array(
      z.object({
        name: text.optional(),
        provider: text,
        deadLetters: z.boolean().meta({ description: 'True if it has dead letters' }),
        journal: z.boolean().meta({ description: 'True if it has a journal' }),
      }),
    ),
    operator: z.object({ name: text, bodies: z.boolean() }),
  })
  .meta({ id: 'Receivers' });

const codes = Object.keys(problems);

export const problem: z.ZodType = z
  .object({ title: text, status: z.int(), code: text.meta({ examples: codes }), detail: text })
  .meta({ id: 'Problem', description: 'RFC 9457' });

export const document: z.ZodType = z.looseObject({ openapi: text }).meta({ id: 'Document' });
