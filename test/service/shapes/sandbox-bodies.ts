// Answers of the sandbox on the first of March of its clock.

/** The check of the id MTX-1001. */
export const FIRST_CHECK = {
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
};

/** The members of a quote that do not depend on what was asked. */
export const NEW_QUOTE = {
  resourceName: 'fxQuote',
  fee: '0.00',
  fxQuoteExpiry: '03/01/2026 12:00:30',
  status: 'GENERATED',
  createdOn: '03/01/2026 12:00:00',
  lastUpdatedOn: '03/01/2026 12:00:00',
  createdBy: { userType: 'API_USER', userName: 'sandbox-admin' },
  lastUpdatedBy: { userType: 'API_USER', userName: 'sandbox-admin' },
};
