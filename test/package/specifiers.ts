import manifest from '../../package.json' with { type: 'json' };

/** The names by which programs import the package. */
export const specifiers: readonly string[] = Object.keys(manifest.exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => path.replace('.', 'posthorn'));
