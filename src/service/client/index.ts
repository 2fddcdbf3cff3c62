export type { EventFilter } from '../../providers/banking-service/event-filter.ts';
export type { Authentication } from '../../receiver/authentication/credentials.ts';
export type { ECheck, ECheckLookup } from '../shapes/e-checks.ts';
export type { Actor, FxQuoteRequest, Money } from '../shapes/fx-quotes.ts';
export type {
  Currency,
  CurrencyListMetadata,
  CurrencyPage,
  PaymentPurpose,
} from '../shapes/reference-lists.ts';
export type {
  AnyEventFilter,
  EnabledEvents,
  StoredEventFilter,
  WebhookRequest,
  WebhookUpdate,
} from '../shapes/webhooks.ts';
export type { Client } from './create-client.ts';
export { createClient } from './create-client.ts';
export type { AdministratorCredentials, BankingCredentials, ProfileCredentials } from './credentials.ts';
export type { ECheckOptions, EChecks } from './e-checks.ts';
export type { EnsuredWebhook, EnsureOptions, WantedWebhook, WebhookChange } from './ensure-webhook.ts';
export type { FxQuote, FxQuotes } from './fx-quotes.ts';
export type { CallOptions, ClientOptions } from './options.ts';
export type { Query } from './query.ts';
export type { Currencies, CurrencyPageRequest, PaymentPurposes } from './reference-lists.ts';
export type { RequestMethod, RequestOptions, SendRequest, ServiceAnswer } from './request.ts';
export type { RotatedWebhook, RotateOptions } from './rotate-signing-key.ts';
export type { Secret } from './secret.ts';
export type { ServiceErrorCode } from './service-error.ts';
export { ServiceError } from './service-error.ts';
export type { CreatedWebhook, Webhook } from './webhook-answers.ts';
export type { PageRequest, WebhookPage } from './webhook-requests.ts';
export type { Webhooks } from './webhooks.ts';
