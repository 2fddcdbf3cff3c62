/**
 * The paths below the service's base address (interface, "Endpoints"); the same in production and staging.
 */
export const paths = {
  fxQuotes: '/banking/us2/v1/transaction/fxQuote',
  fxQuote: '/banking/us2/v1/transaction/fxQuote/id/{fxQuoteId}',
  eChecks: '/banking/echecks/apiServices/uploadChecks.php',
  login: '/banking/ibans/v2/users/login',
  paymentPurposes: '/banking/ibans/v2/profile/v2.1/purpose',
  currencies: '/banking/ibans/v2/profile/v2.1/currencies',
  webhooks: '/payments/na/webhooks',
  webhook: '/payments/na/webhooks/{webhookId}',
} as const;

/** The query of the eCheck lookup: a name without a value, which chooses the function of the script. */
export const E_CHECKS_QUERY = 'GetChecksByMerchantTransID';
