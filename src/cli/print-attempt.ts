import { propertyOf } from '../errors.ts';
import { escapeControls } from '../outcomes/escape.ts';
import { followingStep, isSuccess } from '../sandbox/attempt.ts';
import type { DeliveryAttempt } from '../sandbox/index.ts';
import { colours, type Output } from './output.ts';

/** Prints an attempt of a sandbox, without the credentials that were sent. */
export function printAttempt(output: Output, attempt: DeliveryAttempt): void {
  const {
    event: id,
    webhook,
    number,
    duplicate,
    changed,
    at,
    status,
    error,
    durationMs,
    request,
    response,
  } = attempt;
  const what = { id, type: typeOf(attempt), webhook, number, duplicate, ...(changed && { changed }) };
  const { url, body } = request;
  const result = { status, outcome: outcomeOf(attempt), error, durationMs, request: { url, body }, response };
  output.print({ kind: 'delivery', at, ...what, ...result }, () => lineOfAttempt(attempt));
}

function lineOfAttempt(attempt: DeliveryAttempt): string {
  const { event, number, duplicate, changed, at, status, error, durationMs } = attempt;
  const result = [status ?? 'no answer', outcomeOf(attempt)].filter((part) => part !== undefined).join(' ');
  return [
    colours.minor(at.replace(/\.\d+Z$/, 'Z')),
    colours.strong(escapeControls(typeOf(attempt))),
    escapeControls(event),
    duplicate ? 'duplicate' : `attempt ${number}`,
    ...(changed ? [colours.doubtful('changed')] : []),
    (isSuccess(attempt) ? colours.good : colours.bad)(escapeControls(result)),
    colours.minor(`${durationMs} ms`),
    ...(error === undefined ? [] : [escapeControls(error)]),
    ...consequenceOf(attempt),
  ].join(' ');
}

function consequenceOf(attempt: DeliveryAttempt): string[] {
  const step = followingStep(attempt);
  if (step === 'none') return [];
  if (step === 'give up') return [colours.bad('given up: the webhook is disabled')];
  return [colours.doubtful(`again after ${step.retryAfterMs / 60_000} min`)];
}

function typeOf({ request }: DeliveryAttempt): string {
  return String(propertyOf(parse(request.body), 'type'));
}

/** What the answer says of itself: a receiver of posthorn names its outcome, or the code of an error. */
function outcomeOf({ response }: DeliveryAttempt): string | undefined {
  const body = parse(response?.body ?? '');
  return [propertyOf(body, 'outcome'), propertyOf(body, 'code')].find((each) => typeof each === 'string');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
