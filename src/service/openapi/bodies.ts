import type * as z from 'zod';
import { type Assumed, assumed } from '../shapes/assumptions.ts';
import { errorBody } from '../shapes/error-body.ts';
import type { Operation } from './operation.ts';
import { reference } from './schemas.ts';

/** A required request body. */
export function jsonBody(schema: z.ZodType): object {
  return { required: true, content: { 'application/json': { schema: reference(schema) } } };
}

/** A response with a body in JSON. */
export function jsonResponse(
  description: string,
  schema: z.ZodType,
  { examples, ...marks }: Assumed & { readonly examples?: object } = {},
): object {
  const content = { schema: reference(schema), ...(examples && { examples }) };
  return { description, content: { 'application/json': content }, ...marks };
}

/** The responses of an operation, with one for every failure that the interface does not show. */
export function responsesWith(shown: Operation['responses']): Operation['responses'] {
  return { ...shown, default: otherFailure };
}

const otherFailure = jsonResponse(
  'Any other failure; this form of it is assumed',
  errorBody,
  assumed(
    'error bodies that are not shown',
    'error bodies and codes of the FX quote, eCheck and reference-list operations',
    'the answer to failed authentication, and to a user who is not an administrator',
    'the answers to failed authentication and to a user who is not an administrator, in the sandbox',
    'malformed JSON, another media type, a compressed body, one that is too long, another path, another method',
  ),
);
