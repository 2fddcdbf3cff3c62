import * as z from 'zod/mini';
import type { StoredSender } from './event-identity.ts';

/** The members of a dead letter or a job that name its sender. */
export const senderMembers: {
  readonly [Name in keyof StoredSender]-?: z.ZodMiniOptional<z.ZodMiniString>;
} = {
  eventId: z.optional(z.string()),
  provider: z.optional(z.string()),
  account: z.optional(z.string()),
};

/** An optional member `sealed`, reserved for later versions. This version refuses it by name. */
export function notSealed(subject: string): z.ZodMiniOptional<z.ZodMiniType<never>> {
  const problem = `is there: the ${subject} is sealed, and this version of posthorn cannot open it`;
  return z.optional(z.custom<never>(() => false, problem));
}
