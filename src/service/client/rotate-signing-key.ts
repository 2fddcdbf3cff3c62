import { checkOptions, readDuration } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import { findWebhook } from './find-webhook.ts';
import type { CallOptions } from './options.ts';
import { pause } from './retry.ts';
import { areSameEvents, isSameAuthentication, isSameUrl } from './same-webhook.ts';
import { ServiceError } from './service-error.ts';
import { createDisabled, type DisabledWebhook, setEnabled } from './set-enabled.ts';
import type { Webhook } from './webhook-answers.ts';
import type { WebhookRequests } from './webhook-requests.ts';

/** The way to rotate a signing key. */
export interface RotateOptions {
  /**
   * Stores the new key with the id of the new webhook, and makes every receiver accept both the old key and
   * the new one. Nothing is sent with the new key before it resolves.
   */
  readonly onSigningKey: (signingKey: string, webhook: { readonly id: string }) => unknown;
  /**
   * Resumes a rotation that broke off after `onSigningKey` had resolved: the id and the key that it was
   * given. Leave it out for a rotation that broke off earlier, which starts over.
   */
  readonly resume?: { readonly id: string; readonly signingKey: string } | undefined;
  /**
   * The time for which both webhooks send, in milliseconds; 0 by default. During that time events come twice.
   * When the old webhook is disabled, the service may drop its pending retries; 1,300,000 waits for all of
   * them.
   */
  readonly overlapMs?: number | undefined;
}

/** A webhook whose key was rotated. */
export interface RotatedWebhook {
  /** The webhook that sends from now on. */
  readonly webhook: Webhook;
  /** The webhook that it replaces, disabled. */
  readonly previous: Webhook;
  /** The key of `webhook`. */
  readonly signingKey: string;
}

/** See `Webhooks.rotate`. At least one of the two webhooks is enabled at all times. */
export async function rotateSigningKey(
  requests: WebhookRequests,
  id: string,
  options: RotateOptions,
  callOptions?: CallOptions,
): Promise<RotatedWebhook> {
  const { onSigningKey, resume, overlapMs } = readRotateOptions(id, options);
  const previous = await findWebhook(requests, id, callOptions);
  const next =
    resume === undefined
      ? await createReplacement(requests, previous, onSigningKey, callOptions)
      : {
          webhook: await readNext(requests, previous, resume.id, callOptions),
          signingKey: resume.signingKey,
        };
  const webhook = next.webhook.enabled
    ? next.webhook
    : await setEnabled(requests, next.webhook.id, true, callOptions, next.signingKey);
  if (!previous.enabled) return { webhook, previous, signingKey: next.signingKey };
  await pause(overlapMs, callOptions?.signal);
  const disabled = await setEnabled(requests, id, false, callOptions, next.signingKey);
  return { webhook, previous: disabled, signingKey: next.signingKey };
}

/** Does not show values: each may be a signing key, or hold one. */
function readRotateOptions(
  id: string,
  options: RotateOptions,
): RotateOptions & { readonly overlapMs: number } {
  checkOptions(options, ['onSigningKey', 'resume', 'overlapMs'], 'webhooks.rotate');
  const { onSigningKey, resume, overlapMs = 0 } = options;
  if (typeof onSigningKey !== 'function') {
    throw new ConfigurationError('onSigningKey must be a function that stores the new key');
  }
  const isResume =
    resume === undefined || (typeof resume?.id === 'string' && typeof resume.signingKey === 'string');
  if (!isResume) throw new ConfigurationError('resume must be an object with the texts id and signingKey');
  if (resume?.id === id) {
    throw new ConfigurationError('resume.id must be the id of the new webhook, not that of the old one');
  }
  return { onSigningKey, resume, overlapMs: readDuration('overlapMs', overlapMs, { least: 0 }) };
}

async function createReplacement(
  requests: WebhookRequests,
  previous: Webhook,
  onSigningKey: RotateOptions['onSigningKey'],
  options: CallOptions | undefined,
): Promise<DisabledWebhook> {
  if (!previous.enabled) {
    throw new ServiceError(
      'webhook_disabled',
      `webhook "${previous.id}" is disabled, so it cannot be rotated: enable it first, or resume ` +
        'the rotation that has disabled it with {id, signingKey} of the new webhook',
    );
  }
  await disableOrphans(requests, previous, options);
  const next = await createDisabledCopy(requests, previous, options);
  options?.signal?.throwIfAborted();
  await onSigningKey(next.signingKey, { id: next.webhook.id });
  return next;
}

async function createDisabledCopy(
  requests: WebhookRequests,
  previous: Webhook,
  options: CallOptions | undefined,
): Promise<DisabledWebhook> {
  const { url, enabled_events, authentication } = previous;
  try {
    return await createDisabled(requests, { url, enabled_events, authentication }, options);
  } catch (error) {
    // Without the caller's signal, as in createDisabled. The first failure is reported.
    if (!isRefusal(error)) await disableOrphans(requests, previous).catch(() => {});
    throw error;
  }
}

/**
 * Returns true if the service has certainly not created a webhook. Any other failure may have left one behind
 * whose id is unknown.
 */
function isRefusal(error: unknown): boolean {
  return isInstance(error, ServiceError) && error.code === 'service_refused' && Number(error.status) < 500;
}

/** Disables the webhooks that interrupted rotations have left, because their keys are lost. */
async function disableOrphans(
  requests: WebhookRequests,
  previous: Webhook,
  options?: CallOptions,
): Promise<void> {
  const orphans: string[] = [];
  for await (const webhook of requests.listAll(options)) {
    if (webhook.enabled && isOrphan(webhook, previous)) orphans.push(webhook.id);
  }
  for (const id of orphans) await setEnabled(requests, id, false, options);
}

function isOrphan(webhook: Webhook, previous: Webhook): boolean {
  return (
    webhook.id !== previous.id &&
    isAsYoung(webhook, previous) &&
    isSameUrl(webhook.url, previous.url) &&
    areSameEvents(webhook.enabled_events, previous.enabled_events) &&
    isSameAuthentication(webhook.authentication, previous.authentication)
  );
}

/**
 * Returns false if either time is missing or unreadable: a webhook that may be older was not left by a
 * rotation.
 */
function isAsYoung(webhook: Webhook, previous: Webhook): boolean {
  return Date.parse(webhook.created_at ?? '') >= Date.parse(previous.created_at ?? '');
}

async function readNext(
  requests: WebhookRequests,
  previous: Webhook,
  id: string,
  options: CallOptions | undefined,
): Promise<Webhook> {
  const next = await findWebhook(requests, id, options);
  if (isSameUrl(next.url, previous.url)) return next;
  throw new ConfigurationError(
    `resume.id must be the id of the webhook that replaces "${previous.id}", and "${id}" has another url`,
  );
}
