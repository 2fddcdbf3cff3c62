import type { PosthornError } from '../receiver/errors.ts';
import type { Health } from '../receiver/health/health.ts';

type ShownError = { readonly code: string; readonly message: string } | undefined;

/** The health of a receiver as JSON: of an error the code and the message. */
export function shownHealth({ deadLetters, journal, store, ...rest }: Health): object {
  return {
    ...rest,
    store: withShownError(store),
    deadLetters: deadLetters && withShownError(deadLetters),
    journal: journal && withShownError(journal),
  };
}

function withShownError<T extends { readonly error?: PosthornError | undefined }>(
  part: T,
): Omit<T, 'error'> & { readonly error: ShownError } {
  const { error } = part;
  return { ...part, error: error && { code: error.code, message: error.message } };
}
