import { diag } from '@opentelemetry/api';
import { messageOf } from '../../receiver/values/foreign-values.ts';

/** Runs an action that must not change an answer. If it throws, the error goes to OpenTelemetry's own log. */
export function quietly<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    logError(error);
    return undefined;
  }
}

function logError(error: unknown): void {
  try {
    diag.error(`posthorn: ${messageOf(error)}`);
  } catch {
    // If that log throws, nothing can report it.
  }
}
