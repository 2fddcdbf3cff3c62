import type { ECheck } from '../shapes/e-checks.ts';

/** The account of the checks. */
export const account = {
  bankName: 'First Sandbox Bank',
  bankAlias: 'Operating account',
  accountLast4: '6789',
} as const;

/** The checks that can be found: MTX-1001 has one, MTX-1002 two, MTX-1003 one that was returned. */
export const eChecks: readonly ECheck[] = [
  {
    BatchID: '70001',
    BundleID: '70001-1',
    CheckTransID: '9000001',
    MerchantTransID: 'MTX-1001',
    CheckNumber: '1001',
    Amount: '125.00',
    FirstName: 'Ada',
    LastName: 'Lovelace',
    SentStatus: 'SENT',
    ProcessingStatus: 'PROCESSED',
    TrackingNumber: 'TRK0000001',
  },
  {
    BatchID: '70002',
    BundleID: '70002-1',
    CheckTransID: '9000002',
    MerchantTransID: 'MTX-1002',
    CheckNumber: '1002',
    Amount: '80.50',
    FirstName: 'Grace',
    LastName: 'Hopper',
    SentStatus: 'SENT',
    ProcessingStatus: 'PROCESSED',
    TrackingNumber: 'TRK0000002',
  },
  {
    BatchID: '70002',
    BundleID: '70002-2',
    CheckTransID: '9000003',
    MerchantTransID: 'MTX-1002',
    CheckNumber: '1003',
    Amount: '19.50',
    FirstName: 'Grace',
    LastName: 'Hopper',
    SentStatus: 'NOT_SENT',
    ProcessingStatus: 'PENDING',
    TrackingNumber: '',
  },
  {
    BatchID: '70003',
    BundleID: '70003-1',
    CheckTransID: '9000004',
    MerchantTransID: 'MTX-1003',
    CheckNumber: '1004',
    Amount: '2400.00',
    FirstName: 'Alan',
    LastName: 'Turing',
    SentStatus: 'SENT',
    ProcessingStatus: 'RETURNED',
    TrackingNumber: 'TRK0000004',
  },
];
