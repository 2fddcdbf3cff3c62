import type * as z from 'zod';

/** Shows the issues of a schema in one line that names the members. */
export function complaintsOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => [path.join('.'), message].filter((part) => part !== '').join(' '))
    .join('; ');
}
