import { Problem, problems } from './problem.ts';

/** An answer, before it becomes a web Response. */
export interface OperatorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The headers of each answer. A page of another origin can neither read nor embed it, and no cache keeps it.
 * With `no-referrer`, a browser would send `Origin: null` from the page itself (Fetch, section 3.2).
 */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** A success. */
export function jsonAnswer(value: object): OperatorAnswer {
  return {
    status: 200,
    headers: { ...SECURITY_HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(value),
  };
}

/** A success that is not JSON. */
export function textAnswer(
  body: string,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): OperatorAnswer {
  return { status: 200, headers: { ...SECURITY_HEADERS, ...headers, 'content-type': contentType }, body };
}

/** A problem of RFC 9457. */
export function problemAnswer({ code, message, headers }: Problem): OperatorAnswer {
  const [status, title] = problems[code];
  return {
    status,
    headers: { ...SECURITY_HEADERS, ...headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify({ title, status, code, detail: message }),
  };
}

/** The answer to a request for another path. */
export const UNSERVED: OperatorAnswer = problemAnswer(
  new Problem('not_found', 'nothing is served under this path'),
);

/** The web Response. One to HEAD has no body. */
export function toResponse({ status, headers, body }: OperatorAnswer, method: string): Response {
  return new Response(method === 'HEAD' ? null : body, { status, headers });
}
