import { propertyOf } from '../receiver/values/foreign-values.ts';
import type { DeliveryAttempt } from '../service/sandbox/index.ts';
import { followingStep, isSuccess } from '../service/sandbox/retry-schedule.ts';
import { parseJson } from '../service/shapes/parse-json.ts';
import { describeDuration } from './duration.ts';
import type { Output } from './output.ts';
import { adviceOn, lineOfAdvice } from './refusal-advice.ts';
import type { Sender } from './sender-advice.ts';
import { colours, joined, type TerminalText } from './terminal-text.ts';

/** Prints an attempt of a sandbox without its credentials, and with a sender what its refusal means. */
export function printAttempt(output: Output, attempt: DeliveryAttempt, sender?: Sender): void {
  const { event: id, webhook, number, duplicate, changed, agedMs, olderThan, at, status, error } = attempt;
  const { durationMs, request, response } = attempt;
  const what = { id, type: typeOf(attempt), webhook, number, duplicate, ...(changed && { changed }) };
  const { url, body } = request;
  const aging = { agedMs, olderThan };
  const result = { status, outcome: outcomeOf(attempt), error, durationMs, request: { url, body }, response };
  const advice = sender && adviceOn({ ...attempt, ...request, body: response?.body }, sender);
  output.print({ kind: 'delivery', at, ...what, ...aging, ...result, advice }, () => [
    lineOfAttempt(attempt),
    ...(advice === undefined ? [] : [lineOfAdvice(advice)]),
    ...(olderThan === undefined ? [] : [lineOfOvertaking(attempt.event, olderThan)]),
  ]);
}

function lineOfOvertaking(event: string, olderThan: string): TerminalText {
  return colours.doubtful(
    `  ${event} is older than ${olderThan} now, although it happened after it: latest of an inbox skips it, and would ` +
      'not in production',
  );
}

function lineOfAttempt(attempt: DeliveryAttempt): TerminalText {
  const { event, number, duplicate, changed, agedMs = 0, at, status, error, durationMs } = attempt;
  const result = [status ?? 'no answer', outcomeOf(attempt)].filter((part) => part !== undefined).join(' ');
  return joined([
    colours.minor(at.replace(/\.\d+Z$/, 'Z')),
    colours.strong(typeOf(attempt)),
    event,
    duplicate ? 'duplicate' : `attempt ${number}`,
    ...(changed ? [colours.doubtful('changed')] : []),
    ...(agedMs < 1_000 ? [] : [colours.minor(`aged ${describeDuration(agedMs)}`)]),
    (isSuccess(attempt) ? colours.good : colours.bad)(result),
    colours.minor(`${durationMs} ms`),
    ...(error === undefined ? [] : [error]),
    ...consequenceOf(attempt),
  ]);
}

function consequenceOf(attempt: DeliveryAttempt): TerminalText[] {
  const step = followingStep(attempt);
  if (step === 'none') return [];
  if (step === 'give up') {
    return [colours.bad('given up: the webhook is disabled, until a button of the page enables it again')];
  }
  return [colours.doubtful(`again after ${step.retryAfterMs / 60_000} min`)];
}

function typeOf({ request }: DeliveryAttempt): string {
  return String(propertyOf(parseJson(request.body), 'type'));
}

/** The outcome, or the code of the error, that the answer of a posthorn receiver names. */
function outcomeOf({ response }: DeliveryAttempt): string | undefined {
  const body = parseJson(response?.body ?? '');
  return [propertyOf(body, 'outcome'), propertyOf(body, 'code')].find((each) => typeof each === 'string');
}
