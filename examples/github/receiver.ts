import { createReceiver, type Receiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { type GitHubEvent, github } from 'posthorn/providers';

/** The events that this program handles. `@octokit/openapi-webhooks-types` has the whole payloads. */
type Events =
  | GitHubEvent<'issues.opened', { readonly issue: { readonly number: number; readonly title: string } }>
  | GitHubEvent<'push', { readonly ref: string; readonly after: string }>;

export const receiver: Receiver<Record<never, never>, Events> = createReceiver({
  provider: github<Events>(),
  signingKey: process.env.SIGNING_KEY,
  deadLetters: createFileDeadLetters('dead-letters'),
  retentionMs: 3 * 86_400_000, // as long as somebody can ask GitHub for a redelivery
})
  .on('issues.opened', ({ id, payload: { issue } }) => console.log(`${id} #${issue.number} ${issue.title}`))
  .on('push', ({ id, payload }) => console.log(`${id} ${payload.ref} is at ${payload.after}`));
