import type { z } from 'zod';
import { errorBody } from './error-body.ts';
import { reference } from './openapi-schemas.ts';

/** A required request body. */
export function jsonBody(schema: z.ZodType): object {
  return { required: true, content: { 'application/json': { schema: reference(schema) } } };
}

/** An answer with a body. */
export function answer(description: string, schema: z.ZodType, examples?: object): object {
  const content = { schema: reference(schema), ...(examples && { examples }) };
  return { description, content: { 'application/json': content } };
}

/** Every answer that the interface does not show. */
export const failure: object = answer('Any other failure; this form of it is assumed', errorBody);
