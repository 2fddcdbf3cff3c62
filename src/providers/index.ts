export { type BankingServiceOptions, bankingService } from './banking-service/banking-service.ts';
export type { GitHubEvent, GitHubPayload } from './github/event.ts';
export { type GitHubOptions, github } from './github/github.ts';
export type { IdentifiedEvent } from './payload.ts';
export { type ShopifyEvent, type ShopifyOptions, shopify } from './shopify/shopify.ts';
export type { SlackCallback, SlackInnerEvent } from './slack/callback.ts';
export { type SlackOptions, slack } from './slack/slack.ts';
export {
  type StandardWebhooksEvent,
  type StandardWebhooksOptions,
  standardWebhooks,
} from './standard-webhooks/standard-webhooks.ts';
export { type StripeEvent, type StripeOptions, stripe } from './stripe/stripe.ts';
