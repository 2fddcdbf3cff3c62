// Typed by hand from the interface ("Resources and their fields", "Endpoints"), not made by the package.

export const QUOTE = `{
  "resourceName": "fxQuote",
  "url": "v1/customer/id/5/transaction/fxQuote/id/1234",
  "id": 1234,
  "destination": { "amount": "250.00", "currency": "EUR" },
  "source": { "amount": "271.74", "currency": "USD" },
  "fxRate": "0.920000",
  "fee": "0.00",
  "fxQuoteExpiry": "03/31/2026 09:05:30",
  "status": "GENERATED",
  "createdOn": "03/31/2026 09:05:00",
  "lastUpdatedOn": "03/31/2026 09:05:00",
  "createdBy": { "userType": "API_USER", "userName": "jane" },
  "lastUpdatedBy": { "userType": "API_USER", "userName": "jane" }
}`;

export const CHECKS = `{
  "errorCode": 0,
  "errorMessage": "",
  "bankName": "First Bank",
  "bankAlias": "main",
  "accountLast4": "6789",
  "checkInfo": [
    {
      "BatchID": "81",
      "BundleID": "81-1",
      "CheckTransID": "9001",
      "MerchantTransID": "order-1",
      "CheckNumber": "1001",
      "Amount": "12.50",
      "FirstName": "Ada",
      "LastName": "Lovelace",
      "SentStatus": "SENT",
      "ProcessingStatus": "PROCESSED",
      "TrackingNumber": ""
    }
  ]
}`;

export const PURPOSES = `{
  "success": true,
  "documentTypes": [
    {
      "id": 3,
      "category": "Payment Purpose",
      "title": "Purchase of Good(s)",
      "createdAt": "2021-06-01T10:00:00.000Z",
      "updatedAt": "2021-06-01T10:00:00.000Z"
    },
    {
      "id": 4,
      "category": "Payment Purpose",
      "title": "Purchase of Professional Service(s)",
      "createdAt": "2021-06-01T10:00:00.000Z",
      "updatedAt": "2021-06-01T10:00:00.000Z"
    }
  ]
}`;

export const CURRENCIES = `{
  "success": true,
  "data": [
    { "id": 1, "currencyName": "EUR", "countryName": "Germany" },
    { "id": 2, "currencyName": "EUR", "countryName": "France" }
  ],
  "metadata": { "total": 2, "currentPage": 1, "pageSize": 50 }
}`;

/** A webhook as text; `members` replaces or adds members, each in JSON. */
export function webhook(id: string, members: Readonly<Record<string, string>> = {}): string {
  const all: Record<string, string> = {
    id: `"${id}"`,
    created_at: '"2026-03-31T09:05:00Z"',
    updated_at: '"2026-03-31T09:05:00Z"',
    url: '"https://example.com/hooks"',
    enabled: 'true',
    authentication: '{"type":"NONE"}',
    enabled_events: '[]',
    secret_signing_key: 'null',
    _links: `{"self":{"href":"https://api.example.com/payments/na/webhooks/${id}"}}`,
    ...members,
  };
  return `{${Object.entries(all)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`;
}

/** A page of webhooks as text. */
export function page(
  webhooks: readonly string[],
  { limit = 100, offset = 0, count = webhooks.length } = {},
): string {
  return `{
    "_embedded": { "webhooks": [${webhooks.join(',')}] },
    "_links": { "self": { "href": "https://api.example.com/payments/na/webhooks" } },
    "page": { "limit": ${limit}, "offset": ${offset}, "count": ${count} }
  }`;
}
