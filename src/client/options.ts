import { checkOptions, readDuration, readInteger } from '../check-options.ts';
import { ConfigurationError } from '../errors.ts';
import { MAX_ANSWER_BYTES } from '../service/answer-body.ts';
import {
  type AdministratorCredentials,
  type Authorize,
  type BankingCredentials,
  type ProfileCredentials,
  readAdministrator,
  readBanking,
  readProfile,
} from './credentials.ts';

/** Options of `createClient`. Only the credentials of the parts that are used are needed. */
export interface ClientOptions {
  /** The service's base address, with or without a path, for example `https://api.example.com`. */
  readonly baseUrl: string;
  /** For `fxQuotes` and `eChecks`. */
  readonly banking?: BankingCredentials | undefined;
  /** For `paymentPurposes` and `currencies`. */
  readonly profile?: ProfileCredentials | undefined;
  /** For `webhooks`. */
  readonly administrator?: AdministratorCredentials | undefined;
  /**
   * For each try of a request, from the connection to the end of the answer; 10,000 milliseconds by default.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How much of an answer is read, in bytes after decompression; 1,048,576 by default. A longer one makes the
   * call reject with a {@link ServiceError} of the code `answer_too_large`.
   */
  readonly maxAnswerBytes?: number | undefined;
  /**
   * How many entries a list may have, over all its pages; 100,000 by default. A longer one makes the call
   * reject with a {@link ServiceError} of the code `list_too_long`.
   */
  readonly maxItems?: number | undefined;
}

/** A string of JavaScript holds twice as much at least. */
const MOST_ANSWER_BYTES = 268_435_456;

/** A set of JavaScript, which knows the entries of a list again, holds half as many more. */
const MOST_ITEMS = 10_000_000;

/** Options of every method of the client, as its last argument. */
export interface CallOptions {
  /**
   * Ends the call, which rejects with the signal's reason. What has been
   * sent may have been carried out all the same.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The options, checked and with their defaults. */
export interface ClientSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly maxItems: number;
  readonly areas: Readonly<Record<Area, Authorize | undefined>>;
}

/** A part of the service with credentials of its own. */
export type Area = 'banking' | 'profile' | 'administrator';

/** Checks the options once; throws {@link ConfigurationError} that names the one at fault. */
export function readClientOptions(options: ClientOptions): ClientSettings {
  const names = ['baseUrl', 'banking', 'profile', 'administrator', 'timeoutMs', 'maxAnswerBytes', 'maxItems'];
  checkOptions(options, names, 'createClient');
  const { banking, profile, administrator } = options;
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    timeoutMs: readDuration('timeoutMs', options.timeoutMs, 10_000),
    maxAnswerBytes: readInteger(
      'maxAnswerBytes',
      options.maxAnswerBytes,
      MAX_ANSWER_BYTES,
      MOST_ANSWER_BYTES,
    ),
    maxItems: readInteger('maxItems', options.maxItems, 100_000, MOST_ITEMS),
    areas: {
      banking: banking === undefined ? undefined : readBanking(banking),
      profile: profile === undefined ? undefined : readProfile(profile),
      administrator: administrator === undefined ? undefined : readAdministrator(administrator),
    },
  };
}

/** The value is not shown: it may hold credentials. */
function readBaseUrl(value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isBase =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (isBase) return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  throw new ConfigurationError(
    'baseUrl must be an absolute http: or https: address without credentials, query and fragment, ' +
      'for example "https://api.example.com"',
  );
}
