import * as z from 'zod';
import { eCheckLookup, eCheckRequest } from '../shapes/e-checks.ts';
import { errorBody } from '../shapes/error-body.ts';
import { event, events } from '../shapes/events.ts';
import { fxQuote, fxQuoteRequest } from '../shapes/fx-quotes.ts';
import { currencyList, paymentPurposeList } from '../shapes/reference-lists.ts';
import { createdWebhook, webhookRequest, webhookUpdate } from '../shapes/webhook-bodies.ts';
import { webhook, webhookList } from '../shapes/webhooks.ts';

/** A JSON Schema of draft 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

const schemas: readonly [z.ZodType, ...z.ZodType[]] = [
  fxQuoteRequest,
  fxQuote,
  eCheckRequest,
  eCheckLookup,
  paymentPurposeList,
  currencyList,
  webhookRequest,
  webhookUpdate,
  webhook,
  createdWebhook,
  webhookList,
  errorBody,
  event,
  ...events.map(({ schema }) => schema),
];

/** A reference to a schema among the components, by the `id` of its metadata. */
export function reference(schema: z.ZodType): { readonly $ref: string } {
  const id = schema.meta()?.id;
  if (id === undefined) throw new TypeError('a schema of the OpenAPI document needs an id in its metadata');
  return { $ref: `#/components/schemas/${id}` };
}

/**
 * The components: every schema with an `id`, even inside others. None of them has a transform or a default,
 * so requests and answers have the same form.
 */
export function openApiSchemas(): Record<string, JsonSchema> {
  const { $defs = {} } = z.toJSONSchema(z.tuple(schemas), {
    target: 'draft-2020-12',
    unrepresentable: ({ zodSchema }) => (zodSchema._zod.def.type === 'undefined' ? { not: {} } : 'throw'),
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return JSON.parse(JSON.stringify($defs).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** Removes keywords that say nothing about the service. */
function simplify(schema: JsonSchema): void {
  // The format already means RFC 3339, so zod's pattern of four lines adds nothing.
  if (schema.format === 'date-time') delete schema.pattern;
  // The range of exact integers in JavaScript does not either.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
