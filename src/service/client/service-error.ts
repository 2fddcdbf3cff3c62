import type { CodeOf } from '../../receiver/error-codes.ts';
import { brandClasses, CodedError } from '../../receiver/errors.ts';
import type { CurrencyPage } from '../shapes/reference-lists.ts';

/** The codes of {@link ServiceError}; docs/errors.md explains each. */
export type ServiceErrorCode = CodeOf<'ServiceError'>;

/** The properties of a {@link ServiceError} besides its code and its message. */
export interface ServiceErrorFacts {
  readonly status?: number | undefined;
  readonly details?: string | undefined;
  readonly request?: string | undefined;
  readonly errorCode?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly page?: CurrencyPage | undefined;
  readonly signingKey?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The service refused, failed, could not be reached, or sent an unusable answer. `message` is the service's
 * own if it sent one. The error and its properties never hold a token, a password or a signing key.
 *
 * @example
 * ```ts
 * import { ServiceError } from 'posthorn/client';
 *
 * try {
 *   await client.webhooks.update('WH1', { enabled: true });
 * } catch (error) {
 *   if (error instanceof ServiceError && error.status === 404) console.log('gone:', error.message);
 *   else throw error;
 * }
 * ```
 */
export class ServiceError extends CodedError<'ServiceError'> {
  /** The HTTP status, if the service answered. */
  declare readonly status: number | undefined;
  /** The service's own details, besides its message. */
  readonly details: string | undefined;
  /** The method and the path, for example `GET /payments/na/webhooks?limit=100&offset=0`. */
  readonly request: string | undefined;
  /** The `errorCode` of an eCheck lookup. */
  readonly errorCode: number | undefined;
  /** The pause that the service requested in `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The part that was read of an incomplete list (`list_incomplete`). */
  readonly page: CurrencyPage | undefined;
  /** Private, because loggers print the properties of errors. */
  readonly #signingKey: string | undefined;

  constructor(code: ServiceErrorCode, message: string, { cause, ...facts }: ServiceErrorFacts = {}) {
    const wayOut =
      facts.signingKey === undefined ? '' : '. Its signing key came: signingKey() of this error gives it';
    super(code, `${message}${wayOut}`, cause === undefined ? undefined : { cause });
    // Enumerable, unlike that of other errors: logs show what the service answered.
    Object.defineProperty(this, 'status', { value: facts.status, enumerable: true });
    this.details = facts.details;
    this.request = facts.request;
    this.errorCode = facts.errorCode;
    this.retryAfterMs = facts.retryAfterMs;
    this.page = facts.page;
    this.#signingKey = facts.signingKey;
  }

  /**
   * The signing key of a webhook that was created before the failure, if the service had already sent it. It
   * cannot be read again: store it, or disable that webhook and create another.
   */
  signingKey(): string | undefined {
    return this.#signingKey;
  }
}

brandClasses({ ServiceError });
