import type { Provider } from '../../receiver/provider/provider.ts';
import { propertyOf, textOf } from '../../receiver/values/foreign-values.ts';
import { usageError } from '../failure.ts';
import { exportsOf, isObject } from '../module-exports.ts';

/** Imports the module of `--provider`. Throws a usage error for one without a provider that has types. */
export async function loadProvider(path: string, json: boolean): Promise<Provider> {
  const exports = (await exportsOf(path, 'provider', json)).filter((each) => each !== undefined);
  const provider = exports.find(hasTypes);
  if (provider !== undefined) return provider;
  const others = exports.filter((each) => typeof propertyOf(each, 'readEvent') === 'function');
  const name = others.map((each) => textOf(propertyOf(each, 'name'))).find((each) => each !== undefined);
  const problem = name === undefined ? '' : `, and its provider ${JSON.stringify(name)} has no list of types`;
  throw usageError(
    `${JSON.stringify(path)} must export a provider with types, such as bankingService({ catalog }), as ` +
      `\`provider\` or as its default${problem}`,
  );
}

function hasTypes(thing: unknown): thing is Provider {
  const types = propertyOf(thing, 'types');
  return (
    isObject(thing) &&
    typeof propertyOf(thing, 'readEvent') === 'function' &&
    Array.isArray(types) &&
    types.length > 0 &&
    types.every((type) => typeof type === 'string')
  );
}
