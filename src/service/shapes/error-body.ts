import * as z from 'zod';

/** The body of an error (interface, "Errors": shown for webhooks; assumed to be the same everywhere). */
export interface ErrorBody {
  /** The HTTP status. */
  readonly status: number;
  readonly message: string;
  readonly details?: string | undefined;
}

/** The schema of {@link ErrorBody}. */
export const errorBody: z.ZodType<ErrorBody> = z
  .looseObject({ status: z.int(), message: z.string(), details: z.string().optional() })
  .meta({ id: 'Error' });
