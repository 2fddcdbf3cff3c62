import * as z from 'zod';
import { assumed } from './assumptions.ts';
import { listOf } from './list-of.ts';
import { isoTime } from './timestamp.ts';

/** A purpose of a cross-border wire, by the name that regulators require. */
export interface PaymentPurpose {
  /** The id of the entry. */
  readonly id: number;
  /** It is `Payment Purpose`. */
  readonly category: string;
  /** The purpose, for example `Medical Assistance`. */
  readonly title: string;
  /** It is a time in UTC, as ISO 8601 writes it. */
  readonly createdAt: string;
  /** It is a time in UTC, as ISO 8601 writes it. */
  readonly updatedAt: string;
}

/** A supported currency with one of its countries. */
export interface Currency {
  /** The id of the entry. */
  readonly id: number;
  /** The code, for example `EUR`. */
  readonly currencyName: string;
  /** The country that the entry pairs with the currency. */
  readonly countryName: string;
}

/** The answer with the purposes. */
export interface PaymentPurposeList {
  readonly success: boolean;
  readonly documentTypes: readonly PaymentPurpose[];
}

/** The answer with the currencies, or a page of them. */
export interface CurrencyList {
  readonly success: boolean;
  readonly data: readonly Currency[];
  readonly metadata: CurrencyListMetadata;
}

/** The part of the currencies that an answer holds. */
export interface CurrencyListMetadata {
  /** The number of currencies that the service has. */
  readonly total: number;
  /** The number of this page; whether the first is 0 or 1 is not documented. */
  readonly currentPage: number;
  /** The most currencies on a page. */
  readonly pageSize: number;
}

/** One page of the currencies. */
export interface CurrencyPage {
  /** The currencies on this page. */
  readonly currencies: readonly Currency[];
  /** The part of all currencies that they are. */
  readonly metadata: CurrencyListMetadata;
}

const success = z.boolean().meta(assumed('`success: false`'));

const paymentPurpose = z
  .looseObject({
    id: z.int(),
    category: z.string(),
    title: z.string(),
    createdAt: isoTime,
    updatedAt: isoTime,
  })
  .meta({ id: 'PaymentPurpose' });

const currency = z
  .looseObject({ id: z.int(), currencyName: z.string(), countryName: z.string() })
  .meta({ id: 'Currency', ...assumed('decimal precision and formatting rules of currencies') });

/** The schema of {@link PaymentPurposeList}. */
export const paymentPurposeList: z.ZodType<PaymentPurposeList> = z
  .looseObject({ success, documentTypes: listOf(paymentPurpose) })
  .meta({ id: 'PaymentPurposeList' });

/** The schema of {@link CurrencyList}. */
export const currencyList: z.ZodType<CurrencyList> = z
  .looseObject({
    success,
    data: listOf(currency),
    metadata: z.looseObject({ total: z.int(), currentPage: z.int(), pageSize: z.int() }),
  })
  .meta({ id: 'CurrencyList' });
