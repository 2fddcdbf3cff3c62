import { hmacSignature } from '../../receiver/authentication/hmac-signature.ts';
import { checkOptions } from '../../receiver/checks/check-options.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import { defineProvider } from '../../receiver/provider/define-provider.ts';
import type { Provider, ProviderRequest, Retries } from '../../receiver/provider/provider.ts';
import { propertyOf, textOf } from '../../receiver/values/foreign-values.ts';
import { parseJson } from '../parse-json.ts';
import { readCallback, type SlackCallback, type SlackInnerEvent } from './callback.ts';
import { slackTesting } from './testing.ts';

/** Options of {@link slack}. */
export interface SlackOptions {
  /** `slack` by default. A second application needs another name. */
  readonly name?: string | undefined;
  /** The time that Slack waits for an answer; 3,000 by default. */
  readonly answerWithinMs?: number | undefined;
  /**
   * The retries; `[1_000, 60_000, 300_000]` by default. With Slack's setting "Delayed Events" they go on for
   * a day: `{ forMs: 86_760_000, least: 27 }`.
   */
  readonly retries?: Retries | undefined;
  /** The default of the receiver's `maxBodyBytes`; 1,048,576 by default. */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * Slack's Events API (https://docs.slack.dev/apis/events-api). The signing key is the application's signing
 * secret. Handlers get the callback, and patterns match the type of its `event`; `Inner` is the union of
 * those events, as `@slack/types` declares it. The test of a new URL (`url_verification`) is answered.
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { slack } from 'posthorn/providers';
 *
 * const receiver = createReceiver({ provider: slack(), signingKey: process.env.SLACK_SIGNING_SECRET });
 * receiver.on('app_mention', ({ event }) => console.log(event.text));
 * ```
 */
export function slack<Inner extends TypedEvent = SlackInnerEvent>(
  options: SlackOptions = {},
): Provider<SlackCallback<Inner>> {
  checkOptions(options, ['name', 'answerWithinMs', 'retries', 'maxBodyBytes'], 'slack');
  const { name = 'slack', answerWithinMs = 3_000, retries = PUBLISHED_RETRIES, maxBodyBytes } = options;
  return defineProvider<SlackCallback<Inner>>({
    name,
    signature,
    handshake: answerChallenge,
    readEvent: readCallback<Inner>,
    answerWithinMs,
    retries,
    // Above 1,000 events an hour Slack disables an application that fails for 95 % of them.
    cutsOff: true,
    maxBodyBytes,
    testing: slackTesting,
  });
}

/**
 * Nearly immediately, after one minute and after five (https://docs.slack.dev/apis/events-api#retries). The
 * first of them is taken for a second. If it comes sooner than half of that, it counts as one with the first
 * attempt: then the last attempt is still known by its age, from four and a half minutes on.
 */
const PUBLISHED_RETRIES: Retries = [1_000, 60_000, 300_000];

/**
 * `v0=<hex>` of `v0:<time>:<body>` (https://docs.slack.dev/authentication/verifying-requests-from-slack).
 * Slack's package reads the time as a number too.
 */
const signature = hmacSignature({
  encoding: 'hex',
  read: (headers) => {
    const [version, hex = ''] = (headers.get('x-slack-signature') ?? '').split('=');
    const sentTime = headers.get('x-slack-request-timestamp') ?? '';
    const time = String(Number(sentTime));
    const isWhole = version === 'v0' && sentTime !== '';
    return { signatures: isWhole ? [hex] : [], time, content: (rawBody) => [`v0:${time}:`, rawBody] };
  },
});

/** Answers the test of a new URL (https://docs.slack.dev/reference/events/url_verification). */
function answerChallenge({ rawBody }: ProviderRequest): object | undefined {
  // An event is parsed once: few have this text.
  const bytes = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  if (!bytes.includes('url_verification')) return undefined;
  const body = parsed(rawBody);
  const challenge = textOf(propertyOf(body, 'challenge'));
  const isQuestion = propertyOf(body, 'type') === 'url_verification' && challenge !== undefined;
  return isQuestion ? { challenge } : undefined;
}

/** A body that is not JSON is not a question. `readEvent` says what is wrong with it. */
function parsed(rawBody: Uint8Array): unknown {
  try {
    return parseJson(rawBody);
  } catch {
    return undefined;
  }
}
