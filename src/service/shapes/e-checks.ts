import * as z from 'zod';
import { assumed } from './assumptions.ts';
import { listOf } from './list-of.ts';

/** A request for checks (interface, "Get checks by merchant transaction id"). */
export interface ECheckRequest {
  readonly merchantTransID: string | readonly string[];
  /** `0` if custom fields are not wanted; other values are not documented. */
  readonly returnCustomFields?: string | undefined;
  /** A text that may be empty; its values are not documented. */
  readonly inBehalf?: string | undefined;
}

/** One check. Every shown value is a string; custom fields stand beside them, as the service sends them. */
export interface ECheck {
  /** A custom field, or a member that the service has added. */
  readonly [customField: string]: unknown;
  /** The id of the batch. */
  readonly BatchID: string;
  /** It has the form `<batch_id>-<n>`. */
  readonly BundleID: string;
  /** The id of the check transaction. */
  readonly CheckTransID: string;
  /** The caller's own id. */
  readonly MerchantTransID: string;
  /** The number of the check. */
  readonly CheckNumber: string;
  /** The amount is a decimal number. */
  readonly Amount: string;
  /** The first name on the record of the check. */
  readonly FirstName: string;
  /** The last name on the record of the check. */
  readonly LastName: string;
  /** The progress of its sending; the interface does not show the values. */
  readonly SentStatus: string;
  /** The progress of its processing; the interface does not show the values. */
  readonly ProcessingStatus: string;
  /** The tracking number. */
  readonly TrackingNumber: string;
}

/** The answer to a lookup. It may have further members. */
export interface ECheckLookup {
  /** A custom field, or a member that the service has added. */
  readonly [customField: string]: unknown;
  /** It is 0 on success. */
  readonly errorCode: number;
  /** It is empty on success. */
  readonly errorMessage: string;
  /** The bank of the account. */
  readonly bankName: string;
  /** The alias of the bank account. */
  readonly bankAlias: string;
  /** The last four digits of the account number. */
  readonly accountLast4: string;
  /** One entry for each check that matches. */
  readonly checkInfo: readonly ECheck[];
}

/** The schema of {@link ECheckRequest}. */
export const eCheckRequest: z.ZodType<ECheckRequest> = z
  .looseObject({
    merchantTransID: z
      .union(
        [z.string().min(1), z.array(z.string().min(1)).min(1)],
        'must be one id, or a list of at least one',
      )
      .meta(assumed('an empty merchant transaction id, and a list without one')),
    returnCustomFields: z.string().optional(),
    inBehalf: z.string().optional(),
  })
  .meta({
    id: 'ECheckRequest',
    ...assumed(
      'the values of `returnCustomFields` and `inBehalf`, and the extra fields',
      '`returnCustomFields` and `inBehalf`, in the sandbox',
    ),
  });

const status = z
  .string()
  .meta(
    assumed(
      'the values of `SentStatus` and `ProcessingStatus`, and their transitions',
      'the values of `SentStatus` and `ProcessingStatus`, in the sandbox',
    ),
  );

const eCheck = z
  .looseObject({
    BatchID: z.string(),
    BundleID: z.string(),
    CheckTransID: z.string(),
    MerchantTransID: z.string(),
    CheckNumber: z.string(),
    Amount: z.string(),
    FirstName: z.string(),
    LastName: z.string(),
    SentStatus: status,
    ProcessingStatus: status,
    TrackingNumber: z.string(),
  })
  .meta({ id: 'ECheck' });

/** The schema of {@link ECheckLookup}. */
export const eCheckLookup: z.ZodType<ECheckLookup> = z
  .looseObject({
    errorCode: z
      .int()
      .meta({ description: '0 on success', ...assumed('values of `errorCode` other than 0') }),
    errorMessage: z.string(),
    bankName: z.string(),
    bankAlias: z.string(),
    accountLast4: z.string(),
    checkInfo: listOf(eCheck),
  })
  .meta({ id: 'ECheckLookup' });

/** The members that say whether a lookup succeeded; a failed lookup may lack the others. */
export const eCheckStatus: z.ZodType<Pick<ECheckLookup, 'errorCode' | 'errorMessage'>> = z.looseObject({
  errorCode: z.int(),
  errorMessage: z.string(),
});
