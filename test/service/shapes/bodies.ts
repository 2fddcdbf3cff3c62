// Bodies typed from the interface by hand, as JSON.

/** A quote. */
export const QUOTE =
  '{"resourceName":"fxQuote","url":"v1/customer/id/4711/transaction/fxQuote/id/98765","id":98765,' +
  '"destination":{"amount":"1000.00","currency":"EUR"},"source":{"amount":"1089.50","currency":"USD"},' +
  '"fxRate":"0.917853","fee":"0.00","fxQuoteExpiry":"03/31/2026 09:05:30","status":"GENERATED",' +
  '"createdOn":"03/31/2026 09:05:00","lastUpdatedOn":"03/31/2026 09:05:00",' +
  '"createdBy":{"userType":"API_USER","userName":"treasury"},' +
  '"lastUpdatedBy":{"userType":"API_USER","userName":"treasury"}}';

/** The answer to a lookup of eChecks. */
export const LOOKUP =
  '{"errorCode":0,"errorMessage":"","bankName":"First Bank","bankAlias":"main","accountLast4":"6789",' +
  '"checkInfo":[{"BatchID":"501","BundleID":"501-1","CheckTransID":"9001","MerchantTransID":"order-17",' +
  '"CheckNumber":"1024","Amount":"75.50","FirstName":"Ada","LastName":"Lovelace","SentStatus":"Sent",' +
  '"ProcessingStatus":"Processed","TrackingNumber":"1Z999"}]}';

/** The first of the purposes. */
export const PURPOSES =
  '{"success":true,"documentTypes":[{"id":3,"category":"Payment Purpose","title":"Purchase of Good(s)",' +
  '"createdAt":"2024-01-15T10:00:00.000Z","updatedAt":"2024-01-15T10:00:00.000Z"}]}';

/** A page of currencies. */
export const CURRENCIES =
  '{"success":true,"data":[{"id":1,"currencyName":"EUR","countryName":"Germany"}],' +
  '"metadata":{"total":1,"currentPage":1,"pageSize":10}}';

/** The answer to the creation of a webhook. */
export const CREATED =
  '{"id":"wh_1","created_at":"2026-03-31T09:05:00Z","updated_at":"2026-03-31T09:05:00Z",' +
  '"url":"https://example.com/events","enabled":true,' +
  '"authentication":{"type":"BASIC","basic":{"username":"u","password":"p"}},' +
  '"enabled_events":[{"entity":"transfer","types":["created"]}],"secret_signing_key":"k3y",' +
  '"_links":{"self":{"href":"https://service.example/payments/na/webhooks/wh_1"}}}';
/** Any other answer with a webhook. */
export const WEBHOOK = CREATED.replace('"k3y"', 'null');

/** A page of webhooks. */
export const LIST =
  `{"_embedded":{"webhooks":[${WEBHOOK}]},"_links":{"self":{"href":"https://service.example/payments/na/webhooks"}},` +
  '"page":{"limit":10,"offset":0,"count":1}}';

/** What creates a webhook. */
export const CREATION =
  '{"url":"https://example.com/events","enabled_events":[{"entity":"merchant","types":["verification.failed"]}],' +
  '"authentication":{"type":"BEARER","bearer":{"token":"t"}}}';

/** An event as delivered. */
export const EVENT =
  '{"type":"transfer.succeeded","id":"evt_1","created_at":"2026-03-31T09:05:00.000Z",' +
  '"data":{"id":"tr_1","state":"SUCCEEDED","amount":1250,"tags":{"order":"17"}}}';
