export type { Authentication } from './authentication/credentials.ts';
export type { Key } from './authentication/signature.ts';
export { sign, verifySignature } from './authentication/signature.ts';
export type { SigningKeys } from './authentication/signing-keys.ts';
export type { DeadLetter, DeadLetters } from './dead-letters/dead-letters.ts';
export type { MemoryStoreOptions } from './dedupe/memory.ts';
export { createMemoryStore } from './dedupe/memory.ts';
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
} from './dedupe/store.ts';
export type { ErrorCode } from './errors.ts';
export {
  AbortedError,
  ConfigurationError,
  CredentialsError,
  DataError,
  DeadLetterError,
  EventError,
  HandlerError,
  InternalError,
  JobError,
  PermanentError,
  PosthornError,
  RequestError,
  SignatureError,
  UnavailableError,
} from './errors.ts';
export type { Entity, EventType, Pattern } from './events/catalog.ts';
export { catalog } from './events/catalog.ts';
export type {
  AnyEvent,
  EventOf,
  KnownEvent,
  UnknownEvent,
  UnknownType,
  WebhookEvent,
} from './events/event.ts';
export { isKnownEvent } from './events/event.ts';
export type { EventFilter } from './events/event-filter.ts';
export type { EventData, Schemas, StandardSchemaV1 } from './events/schema.ts';
export type { DispatchOptions } from './handling/dispatch-options.ts';
export type { Middleware, MiddlewareContext } from './handling/middleware.ts';
export type { HandlerContext, UnhandledHandler } from './handling/router.ts';
export type { DeadLettersHealth, Health, LastDelivery, StoreHealth } from './health/health.ts';
export type { ReceiverOptions } from './options.ts';
export type { Outcome, ReportCode } from './outcomes/outcome.ts';
export type {
  HandlerReport,
  ObserveOptions,
  Observer,
  Report,
  ReportSource,
  Warning,
  WarningCode,
} from './outcomes/report.ts';
export type { Queue, QueueAddOptions } from './queue/queue.ts';
export type { QueuedJob, StoredJob } from './queue/queued-job.ts';
export { createReceiver } from './receiver.ts';
export type { Receiver } from './receiver-interface.ts';
export type { BodyOptions, Delivery, Reply } from './request/delivery.ts';
export type { HeaderFields } from './request/headers.ts';
