import { ConfigurationError } from '../../receiver/errors.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { type FxQuoteBody, type FxQuoteRequest, fxQuote, fxQuoteRequest } from '../shapes/fx-quotes.ts';
import { paths } from '../shapes/paths.ts';
import { parseTimestamp } from '../shapes/timestamp.ts';
import { type Answer, describeIssues } from './answer.ts';
import type { CallOptions } from './options.ts';
import type { Service } from './service.ts';

/** A quote of the service, and its expiry. */
export interface FxQuote extends FxQuoteBody {
  /** `fxQuoteExpiry` as a `Date`. */
  readonly expiresAt: Date;
  /** Returns true if the quote has expired at the given time; now by default. */
  readonly isExpired: (now?: Date | number) => boolean;
}

/** Quotes for changing USD into a foreign currency; needs `banking`. */
export interface FxQuotes {
  /**
   * Asks for a quote, which holds for 30 seconds. Give exactly one of the two amounts, as a decimal string;
   * the service computes the other. The request is never repeated, and a failure may leave a quote behind.
   *
   * @example
   * ```ts
   * const quote = await client.fxQuotes.create({ destination: { currency: 'EUR', amount: '250.00' } });
   * console.log(quote.source.amount, quote.fxRate, quote.expiresAt);
   * ```
   */
  create(request: FxQuoteRequest, options?: CallOptions): Promise<FxQuote>;
  /** Reads a quote again; its status may have become `ACCEPTED`. */
  retrieve(id: number, options?: CallOptions): Promise<FxQuote>;
}

export function createFxQuotes(service: Service): FxQuotes {
  const area = 'banking';
  return {
    async create(body, options) {
      checkRequest(body);
      const name = 'fxQuotes.create';
      const request = { name, area, method: 'POST', path: paths.fxQuotes, body, repeatable: false } as const;
      return readQuote(await service(request, options));
    },
    async retrieve(id, options) {
      if (!Number.isSafeInteger(id)) {
        throw new ConfigurationError(`fxQuotes.retrieve takes the integer id of a quote, got ${show(id)}`);
      }
      const name = 'fxQuotes.retrieve';
      const path = paths.fxQuote.replace('{fxQuoteId}', String(id));
      return readQuote(await service({ name, area, method: 'GET', path, repeatable: true }, options));
    },
  };
}

function readQuote(answer: Answer): FxQuote {
  const body = answer.read(fxQuote);
  const expiresAt = parseTimestamp(body.fxQuoteExpiry);
  if (expiresAt === undefined) throw answer.error('answer_invalid', 'fxQuoteExpiry is not a time');
  return {
    ...body,
    expiresAt: new Date(expiresAt),
    // "Before fxQuoteExpiry" (interface, "FX quote"), so the expiry itself is too late.
    isExpired: (now = Date.now()) => Number(now) >= expiresAt,
  };
}

function checkRequest(request: FxQuoteRequest): void {
  const amounts = { destination: request?.destination?.amount, source: request?.source?.amount };
  for (const [side, amount] of Object.entries<unknown>(amounts)) {
    if (amount === undefined || typeof amount === 'string') continue;
    throw new ConfigurationError(
      `${side}.amount must be a decimal number as a string, for example "125.00", because a float loses ` +
        `digits; got ${show(amount)}`,
    );
  }
  const { success, error } = fxQuoteRequest.safeParse(request);
  if (!success)
    throw new ConfigurationError(`the request of fxQuotes.create: ${describeIssues(error.issues)}`);
}
