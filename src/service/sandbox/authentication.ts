import { type CredentialsCheck, createCredentialsCheck } from '../../receiver/authentication/credentials.ts';
import { CredentialsError } from '../../receiver/errors.ts';
import type { HeaderValues } from '../../receiver/request/headers.ts';
import type { SandboxCredentials } from './options.ts';
import { RefusedError } from './refused-error.ts';

/** Admits requests with the right credentials. */
export interface Guard {
  /** The `WWW-Authenticate` of a refusal. */
  readonly challenge: string;
  /** Throws for all other requests. */
  readonly check: (headers: HeaderValues) => void;
}

/** Creates a guard for each area of the service (interface, "Authentication"). */
export function createGuards({
  administrator,
  user,
  banking,
  profile,
}: SandboxCredentials): Readonly<Record<'administrator' | 'banking' | 'profile', Guard>> {
  const isAdministrator = createCredentialsCheck({ type: 'BASIC', basic: administrator });
  const isUser = createCredentialsCheck({ type: 'BASIC', basic: user });
  const hasToken = createCredentialsCheck({ type: 'BEARER', bearer: { token: banking.token } });
  const hasAccess = createCredentialsCheck({ type: 'BEARER', bearer: { token: profile.accessToken } });
  return {
    administrator: guard(isAdministrator.challenge, (headers) => {
      if (passes(isAdministrator, headers)) return;
      if (!passes(isUser, headers))
        throw unauthorized('HTTP Basic credentials of an administrator are required');
      throw new RefusedError(403, 'Forbidden', 'only administrator users may manage webhooks');
    }),
    banking: guard(hasToken.challenge, (headers) => {
      if (passes(hasToken, headers) && headers['x-api-key']?.join(', ') === banking.apiKey) return;
      throw unauthorized('a bearer token and the header x-api-key are required');
    }),
    profile: guard(hasAccess.challenge, (headers) => {
      if (passes(hasAccess, headers)) return;
      throw unauthorized('the bearer token that the login issues is required');
    }),
  };
}

function guard(challenge: string, check: Guard['check']): Guard {
  return { challenge: challenge.replace('realm="webhooks"', 'realm="sandbox"'), check };
}

function passes({ check }: CredentialsCheck, headers: HeaderValues): boolean {
  try {
    check(headers);
    return true;
  } catch (error) {
    if (error instanceof CredentialsError) return false;
    throw error;
  }
}

function unauthorized(details: string): RefusedError {
  return new RefusedError(401, 'Unauthorized', details);
}
