import * as z from 'zod';
import { assumed } from './assumptions.ts';
import { timestamp } from './timestamp.ts';

/** A request for a quote: exactly one of the two amounts, as a decimal string. */
export type FxQuoteRequest =
  | {
      readonly destination: { readonly currency: string; readonly amount: string };
      readonly source?: undefined;
    }
  | {
      readonly destination: { readonly currency: string; readonly amount?: undefined };
      readonly source: { readonly amount: string };
    };

/** An amount of a currency. */
export interface Money {
  /** It is a decimal number with two decimal places. */
  readonly amount: string;
  /** It is a code of ISO 4217, which has three letters. */
  readonly currency: string;
}

/** The user who created or updated a quote. */
export interface Actor {
  /** It is `API_USER`, or perhaps another text. */
  readonly userType: string;
  /** The login name. */
  readonly userName: string;
}

/** A quote as the service sends it (interface, "FX quote"). */
export interface FxQuoteBody {
  /** It is always `fxQuote`. */
  readonly resourceName: 'fxQuote';
  /** It is relative: `v1/customer/id/<customer_id>/transaction/fxQuote/id/<fx_quote_id>`. */
  readonly url: string;
  /** The id of the quote, by which it is retrieved. */
  readonly id: number;
  /** The amount that arrives at the beneficiary. */
  readonly destination: Money;
  /** The amount that is debited, in USD. */
  readonly source: Money;
  /** The rate from USD to `destination.currency`: decimal, with six decimal places. */
  readonly fxRate: string;
  /** It is a decimal number, and may be zero. */
  readonly fee: string;
  /** It is 30 seconds after creation, in UTC, as `MM/DD/YYYY HH:MM:SS`. */
  readonly fxQuoteExpiry: string;
  /** The status. Other texts are possible: the status after the expiry is not documented. */
  readonly status: 'GENERATED' | 'ACCEPTED' | (string & {});
  /** It is read as `MM/DD/YYYY HH:MM:SS` in UTC, which the interface does not say. */
  readonly createdOn: string;
  /** It has the same form, and changes when the quote is accepted. */
  readonly lastUpdatedOn: string;
  /** The user who created the quote. */
  readonly createdBy: Actor;
  /** The user who changed it last. */
  readonly lastUpdatedBy: Actor;
}

/** A quote may be used for 30 seconds (interface, "Limits"). */
export const FX_QUOTE_VALIDITY_MS = 30_000;

/** A decimal number without a sign, as a text: a float would lose digits. */
export const decimal: z.ZodType<string> = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'must be a decimal number as a string, for example "125.00"')
  .meta({ examples: ['125.00'] });

const amount = decimal
  .refine((text) => /[1-9]/.test(text), 'must be above 0')
  .meta({ description: 'Above 0', examples: ['125.00'] });

const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be a three-letter ISO currency code')
  .meta({ examples: ['EUR'] });

/** The schema of {@link FxQuoteRequest}. */
export const fxQuoteRequest: z.ZodType<FxQuoteRequest> = z
  .union(
    [
      z.looseObject({
        destination: z.looseObject({ currency, amount }),
        source: z.undefined().optional(),
      }),
      z.looseObject({
        destination: z.looseObject({ currency, amount: z.undefined().optional() }),
        source: z.looseObject({ amount }),
      }),
    ],
    'must hold destination.currency and exactly one of destination.amount and source.amount, as texts',
  )
  .meta({ id: 'FxQuoteRequest' });

const money = z
  .looseObject({ amount: decimal.meta({ description: 'With two decimal places' }), currency })
  .meta({ id: 'Money' });
const actor = z
  .looseObject({
    userType: z.string().meta({ examples: ['API_USER'], ...assumed('other values of `userType`') }),
    userName: z.string(),
  })
  .meta({ id: 'Actor' });

const ZONE = 'the zone of `createdOn` and `lastUpdatedOn`';

/** The schema of {@link FxQuoteBody}. */
export const fxQuote: z.ZodType<FxQuoteBody> = z
  .looseObject({
    resourceName: z.literal('fxQuote'),
    url: z.string().meta({
      description: 'Relative: `v1/customer/id/<customer_id>/transaction/fxQuote/id/<fx_quote_id>`',
    }),
    id: z.int(),
    destination: money,
    source: money,
    fxRate: decimal.meta({
      description: 'USD to the currency of the destination, with six decimal places',
      examples: ['0.918273'],
    }),
    fee: decimal.meta({
      description: 'May be zero',
      examples: ['0.00'],
      ...assumed('`fee`, the customer id, and `userName`'),
    }),
    fxQuoteExpiry: timestamp.meta({
      description: 'UTC, as `MM/DD/YYYY HH:MM:SS`; 30 seconds after creation',
      examples: ['03/31/2026 09:05:30'],
    }),
    status: z.string().meta({
      description: '`GENERATED` or `ACCEPTED`; others are possible after the expiry',
      examples: ['GENERATED'],
      ...assumed('a quote after its 30 seconds'),
    }),
    createdOn: timestamp.meta({
      description: 'As `MM/DD/YYYY HH:MM:SS`; that it is UTC is assumed',
      ...assumed(ZONE),
    }),
    lastUpdatedOn: timestamp.meta({
      description: 'As `MM/DD/YYYY HH:MM:SS`; that it is UTC is assumed',
      ...assumed(
        ZONE,
        '`lastUpdatedOn` of a quote that is accepted in the second of its creation, in the sandbox',
      ),
    }),
    createdBy: actor,
    lastUpdatedBy: actor,
  })
  .meta({ id: 'FxQuote' });
