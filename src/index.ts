export { createReceiver } from './create-receiver.ts';
export type { Authentication } from './receiver/authentication/credentials.ts';
export type { Key } from './receiver/authentication/signature.ts';
export { sign, verifySignature } from './receiver/authentication/signature.ts';
export type { SigningKeys } from './receiver/authentication/signing-keys.ts';
export type { DeadLetter, DeadLetters } from './receiver/dead-letters/dead-letters.ts';
export type {
  ClaimedResult,
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  CompleteResult,
  LeaseRequest,
  PeekRequest,
  PeekResult,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from './receiver/dedupe/store.ts';
export type { ErrorCode } from './receiver/error-codes.ts';
export type { AnyPosthornError } from './receiver/errors.ts';
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
} from './receiver/errors.ts';
export type { Entity, EventType, Pattern } from './receiver/events/catalog.ts';
export { catalog } from './receiver/events/catalog.ts';
export type {
  AnyEvent,
  EventOf,
  KnownEvent,
  UnknownEvent,
  UnknownType,
  WebhookEvent,
} from './receiver/events/event.ts';
export { isKnownEvent } from './receiver/events/event.ts';
export type { EventFilter } from './receiver/events/event-filter.ts';
export type { EventData, Schemas, StandardSchemaV1 } from './receiver/events/schema.ts';
export type { Middleware, MiddlewareContext } from './receiver/handling/handlers/middleware.ts';
export type { HandlerContext, HandlerOptions, UnhandledHandler } from './receiver/handling/handlers/route.ts';
export type { DispatchOptions } from './receiver/handling/ways-in/dispatch-options.ts';
export type { DeadLettersHealth, Health, LastDelivery, StoreHealth } from './receiver/health/health.ts';
export type { ReceiverOptions } from './receiver/options.ts';
export type { Outcome } from './receiver/outcomes/outcome.ts';
export type {
  HandlerReport,
  ObserveOptions,
  Observer,
  Report,
  ReportSource,
  Warning,
  WarningCode,
} from './receiver/outcomes/report.ts';
export type { Queue, QueueAddOptions } from './receiver/queue/queue.ts';
export type { QueuedJob, StoredJob } from './receiver/queue/queued-job.ts';
export type { Receiver } from './receiver/receiver-interface.ts';
export type { ReportCode } from './receiver/refusals.ts';
export type { BodyOptions, Delivery, Reply } from './receiver/request/delivery.ts';
export type { HeaderFields } from './receiver/request/headers.ts';
export type { MemoryStoreOptions } from './stores/memory/memory.ts';
export { createMemoryStore } from './stores/memory/memory.ts';
