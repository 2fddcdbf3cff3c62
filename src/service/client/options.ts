import { serviceTypes } from '../../providers/banking-service/catalog.ts';
import type { KnownEvent } from '../../providers/banking-service/event.ts';
import {
  checkOptions,
  invalidOption,
  readDuration,
  readInteger,
} from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import { TypeList } from '../../receiver/events/type-list.ts';
import type { Provider } from '../../receiver/provider/provider.ts';
import { propertyOf, show, textOf } from '../../receiver/values/foreign-values.ts';
import { MAX_ANSWER_BYTES } from '../shapes/answer-body.ts';
import {
  type AdministratorCredentials,
  type Authorize,
  type BankingCredentials,
  type ProfileCredentials,
  readAdministrator,
  readBanking,
  readProfile,
} from './credentials.ts';

/** Options of `createClient`. Give the credentials of the parts that you use. */
export interface ClientOptions<E extends TypedEvent = KnownEvent> {
  /** The service's base address, with or without a path, for example `https://api.example.com`. */
  readonly baseUrl: string;
  /** The credentials for `fxQuotes` and `eChecks`. */
  readonly banking?: BankingCredentials | undefined;
  /** The credentials for `paymentPurposes` and `currencies`. */
  readonly profile?: ProfileCredentials | undefined;
  /** The credentials for `webhooks`. */
  readonly administrator?: AdministratorCredentials | undefined;
  /**
   * The time limit of each try, from the connection to the end of the answer; 10,000 milliseconds by default.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The most bytes of an answer, after decompression; 1,048,576 by default. With a longer one the call
   * rejects with a {@link ServiceError} of the code `answer_too_large`.
   */
  readonly maxAnswerBytes?: number | undefined;
  /**
   * The most entries of a list, over all its pages; 100,000 by default. With a longer one the call rejects
   * with a {@link ServiceError} of the code `list_too_long`.
   */
  readonly maxItems?: number | undefined;
  /**
   * The provider of the receiver, if the service has added types: `bankingService({ catalog })`. Then
   * `enabled_events` may name them. By default the types are those of the catalog.
   */
  readonly provider?: Provider<E> | undefined;
}

/** A string of JavaScript can hold at least twice as much. */
const MOST_ANSWER_BYTES = 268_435_456;

/** A set of JavaScript, which detects repeated entries, can hold half as many more. */
const MOST_ITEMS = 10_000_000;

/** Options of every method of the client, as its last argument. */
export interface CallOptions {
  /**
   * Ends the call, which rejects with the signal's reason. A request that was sent may still be carried out.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The options, checked and with their defaults. */
export interface ClientSettings {
  /** The base address without a slash at its end. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly maxItems: number;
  /** The types that `enabled_events` may name. */
  readonly types: TypeList;
  readonly areas: Readonly<Record<Area, Authorize | undefined>>;
}

/** A part of the service with its own credentials. */
export type Area = 'banking' | 'profile' | 'administrator';

const OPTIONS = [
  'baseUrl',
  'banking',
  'profile',
  'administrator',
  'timeoutMs',
  'maxAnswerBytes',
  'maxItems',
  'provider',
];

/** Checks the options once; throws {@link ConfigurationError} that names the wrong one. */
export function readClientOptions(options: ClientOptions<TypedEvent>): ClientSettings {
  checkOptions(options, OPTIONS, 'createClient');
  const { banking, profile, administrator, provider } = options;
  const { timeoutMs = 10_000, maxAnswerBytes = MAX_ANSWER_BYTES, maxItems = 100_000 } = options;
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    timeoutMs: readDuration('timeoutMs', timeoutMs),
    maxAnswerBytes: readInteger('maxAnswerBytes', maxAnswerBytes, { most: MOST_ANSWER_BYTES }),
    maxItems: readInteger('maxItems', maxItems, { most: MOST_ITEMS }),
    types: provider === undefined ? serviceTypes : readTypes(provider),
    areas: {
      banking: banking === undefined ? undefined : readBanking(banking),
      profile: profile === undefined ? undefined : readProfile(profile),
      administrator: administrator === undefined ? undefined : readAdministrator(administrator),
    },
  };
}

function readTypes(provider: unknown): TypeList {
  const types = propertyOf(provider, 'types');
  if (Array.isArray(types) && types.length > 0 && types.every((type) => typeof type === 'string'))
    return new TypeList(types);
  const got = textOf(propertyOf(provider, 'name')) ?? show(provider);
  throw invalidOption(
    'provider',
    `must be a provider with a list of types, such as bankingService({ catalog }), got ${got}`,
  );
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
