import type { Store } from 'posthorn';

/**
 * A store as a user may have written it for an earlier version: it knows neither looks nor holds, and grants
 * claims that come after their release.
 */
export function asUserStore({ claim, renew, complete, release }: Store): Store {
  const asRun = <T extends { readonly token: string }>(request: T): T => ({
    ...request,
    token: request.token.replace('hold:', 'run:'),
  });
  return {
    claim: (request) => claim(asRun(request)),
    renew: (request) => renew(asRun(request)),
    complete,
    release: ({ refuseClaimsMs: _, ...request }) => release(asRun(request)),
  };
}
