import Big from 'big.js';
import { FX_QUOTE_VALIDITY_MS, type FxQuoteBody, fxQuoteRequest, type Money } from '../shapes/fx-quotes.ts';
import { paths } from '../shapes/paths.ts';
import { formatTimestamp, parseTimestamp } from '../shapes/timestamp.ts';
import type { Clock } from './clock.ts';
import { complaintsOf } from './complaints.ts';
import { type Rate, rates } from './rates.ts';
import { RefusedError } from './refused-error.ts';
import type { State, StoredQuote } from './state.ts';

const CUSTOMER_ID = 1001;
const FIRST_QUOTE_ID = 5001;

// A separate constructor, so that its settings do not affect other numbers.
const Decimal = Big();
Decimal.DP = 2;
Decimal.RM = Big.roundHalfUp;

/** A decimal number with at most two decimal places, because the answer cannot hold more. */
const TWO_PLACES = /^\d+(\.\d{1,2})?$/;

/** The quote as users see it. If the sandbox ages events, quotes grow older in the same way. */
export function shownQuote({ quote }: StoredQuote, clock: Clock): FxQuoteBody {
  if (!clock.agesEvents) return quote;
  // Whole seconds, so that all times of a quote keep their distance.
  const aheadMs = Math.ceil(clock.aheadMs() / 1_000) * 1_000;
  const shown = (time: string): string => formatTimestamp((parseTimestamp(time) ?? 0) - aheadMs);
  const { fxQuoteExpiry, createdOn, lastUpdatedOn } = quote;
  return {
    ...quote,
    fxQuoteExpiry: shown(fxQuoteExpiry),
    createdOn: shown(createdOn),
    lastUpdatedOn: shown(lastUpdatedOn),
  };
}

/** The quotes of the sandbox. */
export class FxQuotes {
  readonly #state: State;
  readonly #userName: string;

  constructor(state: State, userName: string) {
    this.#state = state;
    this.#userName = userName;
  }

  /** Throws {@link RefusedError} for anything but a currency of the table and one amount. */
  create(request: unknown): FxQuoteBody {
    const { data, error } = fxQuoteRequest.safeParse(request);
    if (error !== undefined) throw invalid(complaintsOf(error));
    const rate = findRate(data.destination.currency);
    const now = this.#state.clock.now();
    const id = FIRST_QUOTE_ID + this.#state.quotes.length;
    const actor = { userType: 'API_USER', userName: this.#userName };
    const quote: FxQuoteBody = {
      resourceName: 'fxQuote',
      url: `v1/customer/id/${CUSTOMER_ID}/transaction/fxQuote/id/${id}`,
      id,
      ...this.#amounts(rate, data.destination.amount, data.source?.amount),
      fxRate: rate.rate,
      fee: '0.00',
      fxQuoteExpiry: formatTimestamp(now + FX_QUOTE_VALIDITY_MS),
      status: 'GENERATED',
      createdOn: formatTimestamp(now),
      lastUpdatedOn: formatTimestamp(now),
      createdBy: actor,
      lastUpdatedBy: actor,
    };
    const created = { quote, expiresAt: now + FX_QUOTE_VALIDITY_MS };
    this.#state.quotes.push(created);
    this.#state.save();
    return shownQuote(created, this.#state.clock);
  }

  /** An expired quote is still found, with the status that it had. */
  get(id: number): FxQuoteBody {
    return shownQuote(this.#find(id), this.#state.clock);
  }

  /** Accepts a quote, as creating a transaction would (interface, "States and transitions"). */
  accept(id: number): FxQuoteBody {
    const found = this.#find(id);
    const now = this.#state.clock.now();
    if (found.quote.status !== 'GENERATED') throw new RefusedError(409, 'FX quote already accepted');
    if (now >= found.expiresAt) {
      const { fxQuoteExpiry } = shownQuote(found, this.#state.clock);
      throw new RefusedError(409, 'FX quote expired', `it expired at ${fxQuoteExpiry} UTC`);
    }
    // "lastUpdatedOn changes" (interface, "States and transitions"), but its text lacks fractions of a
    // second.
    const nextSecond = found.expiresAt - FX_QUOTE_VALIDITY_MS + 1_000;
    const lastUpdatedOn = formatTimestamp(Math.max(now, nextSecond));
    const accepted = { ...found, quote: { ...found.quote, status: 'ACCEPTED', lastUpdatedOn } };
    this.#state.quotes[this.#state.quotes.indexOf(found)] = accepted;
    this.#state.save();
    return shownQuote(accepted, this.#state.clock);
  }

  #find(id: number): StoredQuote {
    const found = this.#state.quotes.find(({ quote }) => quote.id === id);
    if (found === undefined) throw new RefusedError(404, 'FX quote not found');
    return found;
  }

  /** The given amount stays as it is; the other one is computed and rounded half up, once. */
  #amounts(
    { currency, rate }: Rate,
    destination: string | undefined,
    source: string | undefined,
  ): { readonly destination: Money; readonly source: Money } {
    const given = destination ?? source ?? '';
    if (!TWO_PLACES.test(given)) throw invalid('an amount has two decimal places at most');
    const amount = Decimal(given);
    const computed = destination === undefined ? amount.times(rate).round(2) : amount.div(rate);
    if (computed.eq(0)) throw invalid('the amount is too small: the other one would be 0.00');
    const [received, debited] = destination === undefined ? [computed, amount] : [amount, computed];
    return {
      destination: { amount: received.toFixed(2), currency },
      source: { amount: debited.toFixed(2), currency: 'USD' },
    };
  }
}

function findRate(currency: string): Rate {
  const rate = rates.find((candidate) => candidate.currency === currency);
  if (rate !== undefined) return rate;
  throw new RefusedError(
    400,
    'Unsupported currency',
    `${currency} cannot be quoted; the currencies are listed at ${paths.currencies}`,
  );
}

function invalid(details: string): RefusedError {
  return new RefusedError(400, 'Invalid FX quote request', details);
}
