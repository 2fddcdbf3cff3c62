import type { Request, RequestHandler } from 'express';
import { type CredentialsCheck, createCredentialsCheck } from '../authentication/credentials.ts';
import { CredentialsError } from '../errors.ts';
import { readHeaders } from '../request/headers.ts';
import type { SandboxCredentials } from './options.ts';
import { RefusedError } from './refused-error.ts';

/** A guard for each area of the service (interface, "Authentication"). */
export interface Guards {
  readonly administrator: RequestHandler;
  readonly banking: RequestHandler;
  readonly profile: RequestHandler;
}

export function createGuards({ administrator, user, banking, profile }: SandboxCredentials): Guards {
  const isAdministrator = createCredentialsCheck({ type: 'BASIC', basic: administrator });
  const isUser = createCredentialsCheck({ type: 'BASIC', basic: user });
  const hasToken = createCredentialsCheck({ type: 'BEARER', bearer: { token: banking.token } });
  const hasAccess = createCredentialsCheck({ type: 'BEARER', bearer: { token: profile.accessToken } });
  return {
    administrator: guard(isAdministrator.challenge, (request) => {
      if (passes(isAdministrator, request)) return;
      if (!passes(isUser, request))
        throw unauthorized('HTTP Basic credentials of an administrator are required');
      throw new RefusedError(403, 'Forbidden', 'only administrator users may manage webhooks');
    }),
    banking: guard(hasToken.challenge, (request) => {
      if (passes(hasToken, request) && request.get('x-api-key') === banking.apiKey) return;
      throw unauthorized('a bearer token and the header x-api-key are required');
    }),
    profile: guard(hasAccess.challenge, (request) => {
      if (passes(hasAccess, request)) return;
      throw unauthorized('the bearer token that the login issues is required');
    }),
  };
}

function guard(challenge: string, check: (request: Request) => void): RequestHandler {
  return (request, response, next) => {
    response.set('www-authenticate', challenge.replace('realm="webhooks"', 'realm="sandbox"'));
    check(request);
    response.removeHeader('www-authenticate');
    next();
  };
}

function passes({ check }: CredentialsCheck, request: Request): boolean {
  try {
    check(readHeaders(request.headersDistinct));
    return true;
  } catch (error) {
    if (error instanceof CredentialsError) return false;
    throw error;
  }
}

function unauthorized(details: string): RefusedError {
  return new RefusedError(401, 'Unauthorized', details);
}
