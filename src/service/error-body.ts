import { z } from 'zod';

/** The body of an error (interface, "Errors": shown for webhooks; taken to be the same everywhere). */
export interface ErrorBody {
  /** The HTTP status. */
  readonly status: number;
  readonly message: string;
  readonly details?: string | undefined;
}

/** {@link ErrorBody} as it is read. */
export const errorBody: z.ZodType<ErrorBody> = z
  .looseObject({ status: z.int(), message: z.string(), details: z.string().optional() })
  .meta({ id: 'Error' });
