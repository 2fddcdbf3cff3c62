import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { isPosthornError, type PosthornError } from '../../errors.ts';
import { messageOf, propertyOf, shorten, typeNameOf } from '../../foreign-values.ts';
import type { Report } from '../../outcomes/report.ts';
import { shortName } from './attributes.ts';

/**
 * Sets the status of a delivery that was not processed. A refusal is the sender's failure, as in HTTP's
 * conventions.
 */
export function noteFailure(span: Span, error: PosthornError, { outcome }: Pick<Report, 'outcome'>): void {
  if (outcome !== 'rejected') setFailed(span, messageOf(error));
}

/** Records why a delivery was not processed. */
export function recordFailure(span: Span, error: PosthornError): void {
  span.recordException({ name: error.name, message: messageOf(error) });
}

/** Records what a handler threw, which may be anything. */
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

/** Ends the span of a handler whose run was over before it ended. */
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
