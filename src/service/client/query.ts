import { ConfigurationError } from '../../receiver/errors.ts';
import { show } from '../../receiver/values/foreign-values.ts';

/** The parameters of a query, by name. Undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Adds parameters to a path, which may have a query already. Throws {@link ConfigurationError}. */
export function withQuery(path: string, query: Query, name: string): string {
  if (typeof query !== 'object' || query === null) {
    throw new ConfigurationError(`query of ${name} must be an object, got ${show(query)}`);
  }
  const parameters = new URLSearchParams();
  for (const [parameter, value] of Object.entries<unknown>(query)) {
    if (value === undefined) continue;
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw new ConfigurationError(
        `the parameter "${parameter}" in the query of ${name} must be a string, a number or a boolean, ` +
          `got ${show(value)}`,
      );
    }
    parameters.set(parameter, String(value));
  }
  if (parameters.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${parameters}`;
}
