import { InvalidArgumentError, Option } from 'commander';
import { type Authentication, createCredentialsCheck } from '../receiver/authentication/credentials.ts';
import { usageError } from './failure.ts';
import { type Requirement, requireSettings, type SettingOptions, settingOptions } from './settings.ts';

export interface JsonOption {
  readonly json?: boolean;
}

export interface SchemaOption {
  readonly schema: string;
}

export type KeyOption = SettingOptions<'key'>;

export interface CredentialOptions {
  readonly basic?: string;
  readonly bearer?: string;
}

/** The signing key and the credentials of a webhook. */
export interface SigningOptions extends KeyOption, CredentialOptions {}

// Every command gets its own options, because commander keeps state in them.

export function jsonOption(): Option {
  return new Option('--json', 'print one line of JSON for each result, and nothing else, on stdout');
}

/** The schema of posthorn's tables in PostgreSQL, unless the option names another. */
export const DEFAULT_SCHEMA = 'posthorn';

export function schemaOption(): Option {
  return new Option('--schema <schema>', 'the schema of the tables').default(DEFAULT_SCHEMA);
}

export function credentialOptions(): readonly Option[] {
  return [
    new Option(
      '--basic <user:password>',
      'BASIC credentials of the webhook (env: BASIC_USERNAME, BASIC_PASSWORD)',
    ),
    new Option('--bearer <token>', 'the BEARER token of the webhook (env: BEARER_TOKEN)'),
  ];
}

/** The options for the signing key and the credentials of a webhook. */
export function signingOptions(): readonly Option[] {
  return [...settingOptions('key'), ...credentialOptions()];
}

export function signatureHeaderOption(): Option {
  return new Option(
    '--signature-header <name>',
    'the header that holds the signature of the banking service (default: x-service-signature)',
  ).argParser(parseHeaderName);
}

/** RFC 9110, section 5.1: a name is a token. */
function parseHeaderName(text: string): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be the name of a header.');
}

/** The options for the address to listen on. */
export function listenOptions(port: number): readonly Option[] {
  return [portOption(port), new Option('--host <address>', 'the address to listen on').default('127.0.0.1')];
}

/** The option for the port to listen on. */
export function portOption(port: number): Option {
  return new Option('--port <number>', 'where to listen; 0 takes a free port')
    .default(port)
    .argParser(parsePort);
}

/** Reads the number of a port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

/** The options that take a part of a list. */
export function portionOptions(): readonly Option[] {
  return [
    new Option('--limit <number>', 'only the first so many of the list').argParser(parseCount),
    new Option('--after <id>', 'only those that follow this one in the list'),
  ];
}

/** Reads a number of things. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}

/** The signing key and the credentials of a webhook. One error names all that is missing. */
export function requireSigning(options: SigningOptions): {
  readonly key: string;
  readonly authentication: Authentication;
} {
  requireSettings(options, ['key'], givesCredentials(options) ? [] : [basicRequirement(process.env)]);
  return { key: options.key, authentication: readAuthentication(options) };
}

/** Returns true if an option gives the credentials; then those of the environment do not count. */
export function givesCredentials({ basic, bearer }: CredentialOptions): boolean {
  return basic !== undefined || bearer !== undefined;
}

/** Both variables of BASIC credentials are set, or neither is. */
function basicRequirement({ BASIC_USERNAME = '', BASIC_PASSWORD = '' }: NodeJS.ProcessEnv): Requirement {
  return {
    isMissing: (BASIC_USERNAME !== '') !== (BASIC_PASSWORD !== ''),
    complaint: 'BASIC_USERNAME and BASIC_PASSWORD belong together, and only one of them is set',
  };
}

/**
 * The credentials of a webhook, from the options, else from the environment, else none. Errors do not quote
 * them, because they are secret.
 */
export function readAuthentication(
  { basic, bearer }: CredentialOptions,
  environment: NodeJS.ProcessEnv = process.env,
): Authentication {
  if (basic !== undefined && bearer !== undefined) throw usageError('give --basic or --bearer, not both');
  const authentication = fromOptions(basic, bearer) ?? fromEnvironment(environment);
  createCredentialsCheck(authentication);
  return authentication;
}

function fromOptions(basic: string | undefined, token: string | undefined): Authentication | undefined {
  if (basic !== undefined) return { type: 'BASIC', basic: parseUserAndPassword('--basic', basic) };
  return token === undefined ? undefined : { type: 'BEARER', bearer: { token } };
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Authentication {
  const {
    BASIC_USERNAME: username = '',
    BASIC_PASSWORD: password = '',
    BEARER_TOKEN: token = '',
  } = environment;
  requireSettings({}, [], [basicRequirement(environment)]);
  if (username !== '') return { type: 'BASIC', basic: { username, password } };
  return token === '' ? { type: 'NONE' } : { type: 'BEARER', bearer: { token } };
}

/** Splits `user:password` at the first colon: a user name has none (RFC 7617, section 2). */
export function parseUserAndPassword(
  option: string,
  text: string,
): { readonly username: string; readonly password: string } {
  const colon = text.indexOf(':');
  if (colon > 0 && colon < text.length - 1) {
    return { username: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  throw usageError(`${option} takes a user and a password with a colon between them`);
}

/**
 * Checks an address to send to. Commander does not, because its messages repeat the value, which may hold a
 * password.
 */
export function parseUrl(option: string, text: string): URL {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) {
    throw usageError(`${option} takes an address that begins with http:// or https://`);
  }
  const url = new URL(text);
  if (url.username === '' && url.password === '') return url;
  throw usageError(`${option} takes an address without a user and a password`);
}

/** An address that may be printed: without its query, which may hold a token. */
export function addressOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
