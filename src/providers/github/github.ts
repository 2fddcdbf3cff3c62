import { hmacSignature } from '../../receiver/authentication/hmac-signature.ts';
import { checkOptions } from '../../receiver/checks/check-options.ts';
import { defineProvider } from '../../receiver/provider/define-provider.ts';
import type { Provider, Retries } from '../../receiver/provider/provider.ts';
import type { GitHubEvent } from './event.ts';
import { readDelivery } from './read-delivery.ts';
import { githubTesting } from './testing.ts';

/** Options of {@link github}. */
export interface GitHubOptions {
  /** `github` by default. Two receivers with one store need two names, if both get the same events. */
  readonly name?: string | undefined;
  /** The time that GitHub waits for an answer; 10,000 by default. Enterprise Server waits 30,000. */
  readonly answerWithinMs?: number | undefined;
  /** The retries; `none` by default, because GitHub never sends an event again by itself. */
  readonly retries?: Retries | undefined;
  /** The default of the receiver's `maxBodyBytes`; 26,214,400 by default, the longest payload of GitHub. */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * GitHub (https://docs.github.com/en/webhooks). The signing key is the webhook's secret. Handlers get
 * `{ id, name, type, payload }`; `E` is the union of the events that you handle. Without it each type is
 * taken, and a payload has the members that many events have in common.
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createFileDeadLetters } from 'posthorn/file';
 * import { github } from 'posthorn/providers';
 *
 * const receiver = createReceiver({
 *   provider: github(),
 *   signingKey: process.env.GITHUB_WEBHOOK_SECRET,
 *   deadLetters: createFileDeadLetters('dead-letters'),
 *   retentionMs: 3 * 86_400_000, // as long as an event can be redelivered
 * });
 * receiver.on('issues.opened', ({ payload }) => console.log(payload.repository?.full_name));
 * ```
 */
export function github<E extends GitHubEvent<string, object> = GitHubEvent>(
  options: GitHubOptions = {},
): Provider<E> {
  checkOptions(options, ['name', 'answerWithinMs', 'retries', 'maxBodyBytes'], 'github');
  const { name = 'github', answerWithinMs = 10_000, retries = 'none' } = options;
  const { maxBodyBytes = LONGEST_PAYLOAD } = options;
  return defineProvider<E>({
    name,
    signature,
    readEvent: (request) => {
      const event = readDelivery<E>(request);
      return { id: event.id, type: event.type, event };
    },
    answerWithinMs,
    retries,
    maxBodyBytes,
    testing: githubTesting,
  });
}

/**
 * 25 MB (https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap). The page does not say
 * which megabytes, so these are the larger ones.
 */
const LONGEST_PAYLOAD = 25 * 1_024 * 1_024;

/**
 * `sha256=<hex>` of the body as it was sent, be it JSON or a form
 * (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries). `X-Hub-Signature`
 * stands beside it for old receivers, and is of SHA-1.
 */
const signature = hmacSignature({
  encoding: 'hex',
  read: (headers) => {
    const [, digest] = /^sha256=(.*)$/.exec(headers.get('x-hub-signature-256') ?? '') ?? [];
    return { signatures: digest === undefined ? [] : [digest] };
  },
});
