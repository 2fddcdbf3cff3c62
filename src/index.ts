export { createReceiver } from './create-receiver.ts';
export type { Entity, EventType, Pattern } from './providers/banking-service/catalog.ts';
export { catalog } from './providers/banking-service/catalog.ts';
export type {
  AnyEvent,
  EventOf,
  KnownEvent,
  UnknownEvent,
  UnknownType,
  WebhookEvent,
} from './providers/banking-service/event.ts';
export { isKnownEvent } from './providers/banking-service/event.ts';
export type { EventData, Schemas } from './providers/banking-service/event-data.ts';
export type { EventFilter, FilterOf } from './providers/banking-service/event-filter.ts';
export type { AccountOption, AccountRequest } from './receiver/authentication/account.ts';
export type { Authentication } from './receiver/authentication/credentials.ts';
export type { HmacAlgorithm, HmacEncoding } from './receiver/authentication/hmac-key.ts';
export type { HmacSignatureOptions, ReadSignature } from './receiver/authentication/hmac-scheme.ts';
export { hmacSignature } from './receiver/authentication/hmac-signature.ts';
export type { Key } from './receiver/authentication/key.ts';
export { sign, verifySignature } from './receiver/authentication/signature.ts';
export type { CustomSignature, Signature } from './receiver/authentication/signature-check.ts';
export type { SigningKeys } from './receiver/authentication/signing-keys.ts';
export type { DeadLetter, DeadLetterSummary, DeadLetters } from './receiver/dead-letters/dead-letters.ts';
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
  JournalError,
  PermanentError,
  PosthornError,
  RequestError,
  SignatureError,
  UnavailableError,
} from './receiver/errors.ts';
export type { PatternOf, TypedEvent } from './receiver/events/event-types.ts';
export type { SchemasByEntity, StandardSchemaV1 } from './receiver/events/schema.ts';
export type { TypeFilter, TypeLabels } from './receiver/events/type-rules.ts';
export type { MiddlewareContext } from './receiver/handling/handlers/middleware.ts';
export type { HandlerContext, HandlerOptions } from './receiver/handling/handlers/route.ts';
export type { AcceptOptions } from './receiver/handling/ways-in/accept-options.ts';
export type { DispatchOptions } from './receiver/handling/ways-in/dispatch-options.ts';
export type { RerunOptions } from './receiver/handling/ways-in/rerun-options.ts';
export type { DeadLettersHealth, Health, LastDelivery, StoreHealth } from './receiver/health/health.ts';
export type {
  Journal,
  JournalBatch,
  JournalEntry,
  JournalOutcome,
  JournalRecord,
  JournalSelection,
} from './receiver/journal/journal.ts';
export type { JournalHealth } from './receiver/journal/journal-writer.ts';
export type { AnyOptions, OptionsOf } from './receiver/options.ts';
export type { Outcome } from './receiver/outcomes/outcome.ts';
export type {
  HandlerReport,
  ObserveOptions,
  Observer,
  Report,
  ReportedEvent,
  ReportSource,
  Rerun,
  Warning,
  WarningCode,
} from './receiver/outcomes/report.ts';
export { defineProvider } from './receiver/provider/define-provider.ts';
export type { EventIdentity } from './receiver/provider/event-identity.ts';
export type {
  PlayedEvent,
  Provider,
  ProviderRequest,
  ProviderTesting,
  ReadEvent,
  Retries,
} from './receiver/provider/provider.ts';
export type { Queue, QueueAddOptions } from './receiver/queue/queue.ts';
export type { QueuedJob, StoredJob } from './receiver/queue/queued-job.ts';
export type { ReportCode } from './receiver/refusals.ts';
export type { BodyOptions, Delivery, Reply } from './receiver/request/delivery.ts';
export type { HeaderFields } from './receiver/request/headers.ts';
export type { SingleHeaders } from './receiver/request/single-headers.ts';
export type {
  Middleware,
  Receiver,
  ReceiverOptions,
  UnhandledHandler,
  VerifiedEvent,
} from './receiver-interface.ts';
export type { MemoryStoreOptions } from './stores/memory/memory.ts';
export { createMemoryStore } from './stores/memory/memory.ts';
