/** A likely mistake in a key, and the key without it. */
interface KeyOddity {
  /** The mistake, after "the key has": for example `white space around it`. */
  readonly description: string;
  /** The key without it; empty if nothing is left. */
  readonly bareKey: string;
}

const QUOTES_AND_SPACE = '[\\s"\'`\u201c\u201d\u2018\u2019]+';
const AROUND = new RegExp(`^${QUOTES_AND_SPACE}|${QUOTES_AND_SPACE}$`, 'g');

/**
 * Finds white space and quotes around a key: the line end of a file, or the quotes that an env file keeps.
 * They may belong to the key, so the key is used as it is: only the error of a mismatch names them. The
 * `bareKey` of the last entry has nothing around it.
 */
export function findKeyOddities(key: string): readonly KeyOddity[] {
  const trimmed = key.trim();
  const bare = trimmed.replace(AROUND, '');
  const hasSpace = trimmed !== key;
  return [
    ...(hasSpace ? [{ description: 'white space around it', bareKey: trimmed }] : []),
    ...(bare === trimmed
      ? []
      : [{ description: `${hasSpace ? 'white space and ' : ''}quotes around it`, bareKey: bare }]),
  ];
}
