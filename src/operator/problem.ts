import { isPosthornError } from '../receiver/errors.ts';
import { messageOf } from '../receiver/values/foreign-values.ts';

const table = {
  request_invalid: [400, 'The request is wrong'],
  forbidden: [403, 'Not authorized'],
  origin_foreign: [403, 'The request comes from a page of another origin'],
  not_found: [404, 'Nothing is served under this path'],
  dead_letter_missing: [404, 'No dead letter has this id'],
  journal_entry_missing: [404, 'The journal has no event with this id'],
  dead_letters_missing: [404, 'The receiver has no dead letters'],
  journal_missing: [404, 'The receiver has no journal'],
  method_not_allowed: [405, 'The method is not allowed here'],
  journal_id_ambiguous: [409, 'Several senders gave this id'],
  body_too_large: [413, 'The body is too large'],
  media_type_unsupported: [415, 'The body must be JSON'],
  internal_error: [500, 'The interface failed'],
  mask_failed: [500, 'The option mask failed'],
  dead_letter_unreadable: [500, 'A dead letter cannot be read'],
  audit_failed: [503, 'The audit failed, so nothing was done'],
  dead_letters_unavailable: [503, 'The dead letters do not answer'],
  journal_unavailable: [503, 'The journal does not answer'],
  store_unavailable: [503, 'The store does not answer'],
} as const;

/** The code of an answer other than 200. */
export type ProblemCode = keyof typeof table;

/** The status and the title of each code. */
export const problems: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = table;

/** Ends a request with an answer other than 200. The message is for the operator. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    message: string,
    { headers = {}, ...options }: ErrorOptions & { readonly headers?: Record<string, string> } = {},
  ) {
    super(message, options);
    this.code = code;
    this.headers = headers;
  }
}

/** Returns the problem that an error means: itself, that of the same code, or an internal one. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const code = isPosthornError(error) ? codeOf(error.code) : 'internal_error';
  return new Problem(code, messageOf(error), { cause: error });
}

/** An option of a list or of a rerun that a receiver refuses comes from the request. */
function codeOf(code: string): ProblemCode {
  if (code === 'configuration_invalid') return 'request_invalid';
  return isProblemCode(code) ? code : 'internal_error';
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}
