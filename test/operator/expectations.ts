import { expect } from 'vitest';
import type { Answer } from './mounts.ts';

const GUARDS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Headers that differ from answer to answer, and those that a server adds. */
const others = [
  ...['allow', 'content-length', 'content-type'],
  ...['connection', 'date', 'keep-alive', 'transfer-encoding'],
];

/** No page of another origin can read or embed the answer, and no cache keeps it. */
export function expectGuarded({ headers }: Pick<Answer, 'headers'>, more: object = {}): void {
  const guards = [...headers].filter(([name]) => !others.includes(name));
  expect(Object.fromEntries(guards)).toEqual({ ...GUARDS, ...more });
}

/** A problem of RFC 9457. Returns its detail. */
export function expectProblem(answer: Answer, status: number, code: string): string {
  expect(answer.body).toEqual({ title: expect.any(String), status, code, detail: expect.any(String) });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expectGuarded(answer);
  return answer.body.detail ?? '';
}
