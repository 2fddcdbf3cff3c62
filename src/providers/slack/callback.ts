import { EventError } from '../../receiver/errors.ts';
import { isTimeMs } from '../../receiver/events/age.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { ProviderRequest, ReadEvent } from '../../receiver/provider/provider.ts';
import { propertyOf, textOf } from '../../receiver/values/foreign-values.ts';
import { isForm } from '../is-form.ts';
import { parseJson } from '../parse-json.ts';

/** An event as Slack's reference has it (https://docs.slack.dev/reference/events). */
export interface SlackInnerEvent extends TypedEvent {
  /** Any other member. */
  readonly [member: string]: unknown;
}

/**
 * A callback of the Events API (https://docs.slack.dev/apis/events-api#event-type-structure), with the `type`
 * of its `event` in place of `event_callback`. It has further members.
 */
export type SlackCallback<Inner extends TypedEvent = SlackInnerEvent> = Inner extends unknown
  ? {
      /** `event_id`; for `app_rate_limited`, a text of the application, the workspace and the minute. */
      readonly id: string;
      /** The type of `event`, for example `app_mention`. Messages of each subtype are `message`. */
      readonly type: Inner['type'];
      /** The event itself. */
      readonly event: Inner;
      /** The workspace. */
      readonly team_id: string;
      /** The application. */
      readonly api_app_id: string;
      /** In seconds since the epoch. */
      readonly event_time?: number;
      /** Any other member. */
      readonly [member: string]: unknown;
    }
  : never;

/** Reads a callback. Throws {@link EventError} with the members that could be read. */
export function readCallback<Inner extends TypedEvent>(
  request: ProviderRequest,
): ReadEvent<SlackCallback<Inner>> {
  const body = parseBody(request);
  // `app_rate_limited` does not have an id, or an inner event.
  const isRateLimited = propertyOf(body, 'type') === 'app_rate_limited';
  const event = isRateLimited ? body : propertyOf(body, 'event');
  const id = isRateLimited ? limitIdOf(body) : textOf(propertyOf(body, 'event_id'));
  const type = textOf(propertyOf(event, 'type'));
  const callback: unknown = { ...body, id, type, event };
  const time = timeOf(propertyOf(body, isRateLimited ? 'minute_rate_limited' : 'event_time'));
  if (isCallback<Inner>(callback)) return { id: callback.id, type: callback.type, ...time, event: callback };
  throw new EventError(
    'envelope_invalid',
    'the body is not an event of Slack: it must have event_id and event.type, or be app_rate_limited with its ' +
      'application, workspace and minute',
    { id, type },
  );
}

/** Slash commands and interactions come as forms (https://docs.slack.dev/interactivity). */
function parseBody({ rawBody, headers }: ProviderRequest): object {
  try {
    return Object(parseJson(rawBody));
  } catch (cause) {
    if (!isForm(headers)) throw cause;
    const problem = 'the body is a form: slash commands and interactions of Slack are not events';
    throw new EventError('body_not_json', `${problem}, so give them another URL`, {}, { cause });
  }
}

function limitIdOf(body: object): string | undefined {
  const parts = ['api_app_id', 'team_id', 'minute_rate_limited'].map((name) => propertyOf(body, name));
  const isWhole = parts.every((part) => typeof part === 'string' || typeof part === 'number');
  return isWhole ? ['app_rate_limited', ...parts].join(':') : undefined;
}

function timeOf(seconds: unknown): { readonly createdAtMs?: number } {
  const createdAtMs = typeof seconds === 'number' ? seconds * 1_000 : undefined;
  return isTimeMs(createdAtMs) ? { createdAtMs } : {};
}

function isCallback<Inner extends TypedEvent>(callback: unknown): callback is SlackCallback<Inner> {
  return (
    textOf(propertyOf(callback, 'id')) !== undefined && textOf(propertyOf(callback, 'type')) !== undefined
  );
}
