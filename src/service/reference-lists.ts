import { z } from 'zod';

/** A purpose of a cross-border wire, by the name that regulators require. */
export interface PaymentPurpose {
  /** The id of the entry. */
  readonly id: number;
  /** `Payment Purpose`. */
  readonly category: string;
  /** The purpose, for example `Medical Assistance`. */
  readonly title: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** ISO 8601, UTC. */
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
  readonly metadata: { readonly total: number; readonly currentPage: number; readonly pageSize: number };
}

const time = z.iso.datetime({ offset: true });

const paymentPurpose = z
  .looseObject({
    id: z.int(),
    category: z.string(),
    title: z.string(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'PaymentPurpose' });

const currency = z
  .looseObject({ id: z.int(), currencyName: z.string(), countryName: z.string() })
  .meta({ id: 'Currency' });

/** The schema of {@link PaymentPurposeList}. */
export const paymentPurposeList: z.ZodType<PaymentPurposeList> = z
  .looseObject({ success: z.boolean(), documentTypes: z.array(paymentPurpose) })
  .meta({ id: 'PaymentPurposeList' });

/** The schema of {@link CurrencyList}. */
export const currencyList: z.ZodType<CurrencyList> = z
  .looseObject({
    success: z.boolean(),
    data: z.array(currency),
    metadata: z.looseObject({ total: z.int(), currentPage: z.int(), pageSize: z.int() }),
  })
  .meta({ id: 'CurrencyList' });
