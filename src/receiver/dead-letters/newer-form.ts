import { propertyOf, show } from '../values/foreign-values.ts';

/**
 * The newest version of a dead letter that this release reads. It writes none, which means 1. A later version
 * has to come before `rawBody`, because a summary is read up to there.
 */
const VERSION = 1;

/**
 * Says why a dead letter has a form that only a later version of posthorn can read; undefined if it does not.
 * That version may have put another member in place of the body.
 */
export function newerForm(letter: unknown): string | undefined {
  if (propertyOf(letter, 'sealed') !== undefined)
    return 'it is sealed, and this version of posthorn cannot open it';
  const version = propertyOf(letter, 'version') ?? VERSION;
  if (typeof version === 'number' && version <= VERSION) return undefined;
  return `its version is ${show(version)}, and this version of posthorn reads ${VERSION} at most`;
}
