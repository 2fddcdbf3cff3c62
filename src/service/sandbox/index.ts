export type { DeliveryAttempt } from './attempt.ts';
export { createSandbox } from './create-sandbox.ts';
export type { SendRequest } from './event-request.ts';
export { defaultCredentials, type SandboxCredentials, type SandboxOptions } from './options.ts';
export { RefusedError } from './refused-error.ts';
export type { DeliveryFilter, Sandbox, SandboxApp, SandboxClock } from './sandbox.ts';
