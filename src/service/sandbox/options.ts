import * as z from 'zod';
import { checkOptions } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { LAST_MOMENT } from './clock.ts';
import { complaintsOf } from './complaints.ts';

/** The credentials of each part of the interface (interface, "Authentication"). */
export interface SandboxCredentials {
  /** HTTP Basic credentials for the webhooks. */
  readonly administrator: { readonly username: string; readonly password: string };
  /** HTTP Basic credentials of a user who is not an administrator: answered 403. */
  readonly user: { readonly username: string; readonly password: string };
  /** For FX quotes and eChecks: the bearer token and the `x-api-key`. */
  readonly banking: { readonly token: string; readonly apiKey: string };
  /** For the reference lists: the bearer token that the login issues. */
  readonly profile: { readonly accessToken: string };
}

/** The credentials that the sandbox expects by default. */
export const defaultCredentials: SandboxCredentials = {
  administrator: { username: 'sandbox-admin', password: 'sandbox-password' },
  user: { username: 'sandbox-user', password: 'sandbox-password' },
  banking: { token: 'sandbox-jwt', apiKey: 'sandbox-key' },
  profile: { accessToken: 'sandbox-access' },
};

/** Some of the credentials. */
type GivenCredentials = {
  readonly [Part in keyof SandboxCredentials]?: SandboxCredentials[Part] | undefined;
};

/** Options of `createSandbox`. Credentials that are left out are those of {@link defaultCredentials}. */
export interface SandboxOptions extends GivenCredentials {
  /** The kind of clock: `real` by default; with `manual` time moves only by `clock.advance`. */
  readonly clock?: 'real' | 'manual' | undefined;
  /** The seconds that pass in each real second; 1 by default. For the real clock only. */
  readonly speed?: number | undefined;
  /**
   * The start of the clock, in milliseconds since the epoch; now by default. An existing state continues
   * where it was. The clock ends with the year 9999.
   */
  readonly startAt?: number | undefined;
  /**
   * A file that keeps the state over restarts; by default the state is in memory only. The file holds signing
   * keys, so its mode is 0600.
   */
  readonly state?: string | undefined;
  /** The header of the signature; `x-service-signature` by default. */
  readonly signatureHeader?: string | undefined;
  /**
   * The signing key of every new webhook; by default each gets its own. With this option a running receiver
   * does not need a new key after each start of the sandbox.
   */
  readonly signingKey?: string | undefined;
}

/** The options, checked and with their defaults. */
export interface Settings {
  readonly credentials: SandboxCredentials;
  /** The speed of the clock; 0 for the manual clock. */
  readonly speed: number;
  readonly startAt: number;
  readonly stateFile: string | undefined;
  readonly signatureHeader: string;
  readonly signingKey: string | undefined;
}

// RFC 7617, section 2: no colon in the user-id, no control characters in either part.
const username = z
  .string()
  .regex(/^[^:\p{Cc}]+$/u, 'must be a non-empty string without ":" and control characters');
const password = z.string().regex(/^\P{Cc}+$/u, 'must be a non-empty string without control characters');
const token = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces, and not empty');
const basic = z.strictObject({ username, password });

const fields = {
  administrator: basic.default(defaultCredentials.administrator),
  user: basic.default(defaultCredentials.user),
  banking: z.strictObject({ token, apiKey: token }).default(defaultCredentials.banking),
  profile: z.strictObject({ accessToken: token }).default(defaultCredentials.profile),
  clock: z.enum(['real', 'manual'], 'must be "real" or "manual"').default('real'),
  speed: z.number('must be a number').positive('must be above 0').optional(),
  startAt: z
    .int('must be milliseconds since the epoch, as a whole number')
    .min(0, 'must not be negative')
    .max(LAST_MOMENT, 'must be a moment before the last day of the year 9999')
    .optional(),
  state: z.string('must be the path of a file').min(1, 'must be the path of a file').optional(),
  signatureHeader: z
    .string()
    // RFC 9110, section 5.1: a field name is a token.
    .regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/i, 'must be the name of a header')
    .transform((name) => name.toLowerCase())
    .default('x-service-signature'),
  signingKey: z.string('must be a string').min(1, 'must not be empty').optional(),
} satisfies Record<keyof SandboxOptions, z.ZodType>;

const schema = z.object(fields);

/** Checks the options once; throws {@link ConfigurationError} that names the wrong one. */
export function readSandboxOptions(options: SandboxOptions): Settings {
  checkOptions(options, Object.keys(fields), 'createSandbox');
  const { data, error } = schema.safeParse(options);
  if (error !== undefined) throw new ConfigurationError(complaintsOf(error), { cause: error });
  const { clock, speed, startAt = Date.now(), state, signatureHeader, signingKey, ...credentials } = data;
  if (clock === 'manual' && speed !== undefined) {
    throw new ConfigurationError(
      'speed cannot be combined with clock "manual", which moves only by clock.advance',
    );
  }
  if (credentials.administrator.username === credentials.user.username) {
    throw new ConfigurationError(
      'administrator.username and user.username must differ: only the administrator may manage webhooks',
    );
  }
  return {
    credentials,
    speed: clock === 'manual' ? 0 : (speed ?? 1),
    startAt,
    stateFile: state,
    signatureHeader,
    signingKey,
  };
}
