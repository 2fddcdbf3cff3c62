export type { Entity, EventType, Pattern } from './catalog.ts';
export { catalog } from './catalog.ts';
export type { Authentication } from './credentials.ts';
export type { DeadLetter, DeadLetters } from './dead-letters/dead-letters.ts';
export type { BodyOptions, Delivery, Reply } from './delivery.ts';
export {
  AbortedError,
  ConfigurationError,
  CredentialsError,
  DataError,
  DeadLetterError,
  EventError,
  HandlerError,
  InternalError,
  PermanentError,
  PosthornError,
  RequestError,
  SignatureError,
  UnavailableError,
} from './errors.ts';
export type { AnyEvent, EventOf, KnownEvent, WebhookEvent } from './event.ts';
export { isKnownEvent } from './event.ts';
export type { HeaderFields } from './headers.ts';
export type { SigningKeys } from './keys.ts';
export type { ReceiverOptions } from './options.ts';
export type { Outcome } from './outcome.ts';
export type { Receiver } from './receiver.ts';
export { createReceiver } from './receiver.ts';
export type { HandlerReport, Observer, Report, Warning } from './report.ts';
export type { HandlerContext, UnhandledHandler } from './router.ts';
export type { EventData, Schemas, StandardSchemaV1 } from './schema.ts';
export type { Key } from './signature.ts';
export { sign, verifySignature } from './signature.ts';
export type { MemoryStoreOptions } from './stores/memory.ts';
export { createMemoryStore } from './stores/memory.ts';
export type {
  ClaimedResult,
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  CompleteResult,
  LeaseRequest,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from './stores/store.ts';
