import { diag } from '@opentelemetry/api';
import { messageOf } from '../../foreign-values.ts';

/** Does what must not change an answer. Where it throws, tells OpenTelemetry's own log. */
export function quietly<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    tell(error);
    return undefined;
  }
}

function tell(error: unknown): void {
  try {
    diag.error(`posthorn: ${messageOf(error)}`);
  } catch {
    // A log that throws has nobody to tell.
  }
}
