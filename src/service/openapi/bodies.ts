import type * as z from 'zod';
import { type Assumed, assumed } from '../shapes/assumptions.ts';
import { errorBody } from '../shapes/error-body.ts';
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

/** The response for every failure that the interface does not show. */
export const defaultResponse: object = jsonResponse(
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
