import * as z from 'zod/mini';
import { ConfigurationError } from '../errors.ts';
import { typeNameOf } from '../values/foreign-values.ts';

// `overrides` of npm or pnpm force another version on posthorn. An older one would fail at the first event.
if (typeof z.validate !== 'function') {
  const { major, minor, patch } = z.string()._zod.version;
  const found = `${major}.${minor}.${patch}`;
  const wayOut = 'take zod out of the overrides or resolutions of package.json';
  throw new ConfigurationError(`posthorn needs zod 4.6.7 or later, and finds ${found}: ${wayOut}`);
}

/** A value does not fit its schema. Any other error of a schema is one of the library. */
export class MismatchError extends TypeError {}

/**
 * Parses a value by a schema of zod/mini. Throws a {@link MismatchError} whose message names each wrong
 * member by its path, and the value itself by `name`. It shows types and not values, which may be payment
 * data.
 */
export function parseWithSchema<T>(schema: z.ZodMiniType<T>, value: unknown, name: string): T {
  const { success, data, error } = z.safeParse(schema, value, { error: describeType });
  if (success) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || name}: ${message}`);
  throw new MismatchError(problems.join('; '), { cause: error });
}

/**
 * Returns the message of zod for a value of the wrong type. zod/mini has messages only in its locales:
 * esbuild bundles all or none of them, and setting one affects the whole process.
 */
function describeType({ code, expected, input }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'invalid_type') return undefined;
  const isNotFinite = typeof input === 'number' && !Number.isFinite(input);
  const received = isNotFinite ? input : typeNameOf(input).toLowerCase();
  return `Invalid input: expected ${expected}, received ${received}`;
}
