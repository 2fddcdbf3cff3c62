import { expect } from 'vitest';
import type { Answer } from './mounts.ts';

/** No page of another origin can read or embed the answer, and no cache keeps it. */
export function expectGuarded({ headers }: Answer): void {
  const policy = headers.get('content-security-policy') ?? '';
  const directives = policy.split(';').map((directive) => directive.trim());
  expect(directives).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]));
  expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
}

/** A problem of RFC 9457. Returns its detail. */
export function expectProblem(answer: Answer, status: number, code: string): string {
  expect(answer.body).toEqual({ title: expect.any(String), status, code, detail: expect.any(String) });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expectGuarded(answer);
  return answer.body.detail ?? '';
}
