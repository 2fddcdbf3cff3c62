import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { isPosthornError, type PosthornError } from '../../receiver/errors.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf, propertyOf, shorten, typeNameOf } from '../../receiver/values/foreign-values.ts';
import { shortName } from './attributes.ts';

/**
 * Sets the status of a delivery that was not processed. A refusal is a failure of the sender, as in the
 * conventions for HTTP.
 */
export function noteFailure(span: Span, error: PosthornError, { outcome }: Pick<Report, 'outcome'>): void {
  if (outcome !== 'rejected') setFailed(span, messageOf(error));
}

/** Records the reason why a delivery was not processed. */
export function recordFailure(span: Span, error: PosthornError): void {
  span.recordException({ name: error.name, message: messageOf(error) });
}

/** Records the value that a handler threw, which may be anything. */
export function noteThrown(span: Span, thrown: unknown): void {
  const name = nameOf(thrown);
  const message = messageOf(thrown);
  const stack = propertyOf(thrown, 'stack');
  span.setAttribute('error.type', isPosthornError(thrown) ? thrown.code : name);
  span.recordException({
    name,
    message,
    ...(typeof stack === 'string' && { stack: shorten(stack) }),
  });
  setFailed(span, message);
}

/** Ends the span of a handler that was still running when its run ended. */
export function endAbandoned(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  setFailed(span, 'its run was over before');
  span.end();
}

function setFailed(span: Span, message: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function nameOf(thrown: unknown): string {
  const name = propertyOf(thrown, 'name');
  return typeof name === 'string' && name !== '' ? shortName(name) : typeNameOf(thrown);
}
