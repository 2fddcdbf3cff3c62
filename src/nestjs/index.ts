export {
  OnUnhandledWebhook,
  type OnUnhandledWebhookOptions,
  OnWebhook,
  type OnWebhookOptions,
  type WebhookDecorator,
  type WebhookDecorators,
  webhookDecorators,
} from './decorators.ts';
export { type ReceiverHealth, receiverHealth } from './health-indicator.ts';
export { PosthornModule } from './module.ts';
export type {
  PosthornModuleAsyncOptions,
  PosthornModuleOptions,
  PosthornOperatorOptions,
  PosthornOptions,
  PosthornWorkerOptions,
  QueueWorker,
} from './options.ts';
export { getReceiverToken, InjectReceiver } from './tokens.ts';
