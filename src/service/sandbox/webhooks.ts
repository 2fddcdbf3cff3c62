import { randomBytes, randomUUID } from 'node:crypto';
import { RefusedError } from './refused-error.ts';
import type { State, StoredWebhook } from './state.ts';

/** The members of a webhook that a caller chooses. */
export type WebhookMembers = Pick<StoredWebhook, 'url' | 'enabled' | 'authentication' | 'enabled_events'>;

/** The webhooks of the sandbox, in the order of their creation. */
export class Webhooks {
  readonly #state: State;
  readonly #signingKey: string | undefined;

  /** Without a signing key each webhook gets one of its own. */
  constructor(state: State, signingKey: string | undefined) {
    this.#state = state;
    this.#signingKey = signingKey;
  }

  get all(): readonly StoredWebhook[] {
    return this.#state.webhooks;
  }

  create(members: WebhookMembers): StoredWebhook {
    const now = new Date(this.#state.clock.shownNow()).toISOString();
    const webhook = {
      id: `WH${randomUUID().replaceAll('-', '')}`,
      created_at: now,
      updated_at: now,
      ...members,
      secret_signing_key: this.#signingKey ?? randomBytes(32).toString('hex'),
    };
    this.#state.webhooks.push(webhook);
    this.#state.save();
    return webhook;
  }

  find(id: string): StoredWebhook | undefined {
    return this.all.find((webhook) => webhook.id === id);
  }

  /** Throws {@link RefusedError} for an unknown id. */
  get(id: string): StoredWebhook {
    const webhook = this.find(id);
    if (webhook === undefined) throw new RefusedError(404, 'Webhook not found');
    return webhook;
  }

  update(id: string, changes: Partial<WebhookMembers>): StoredWebhook {
    const webhook = this.get(id);
    // `updated_at` changes on each update (interface, "Webhook"), even while the clock stands still.
    const updatedAt = Math.max(this.#state.clock.shownNow(), Date.parse(webhook.updated_at) + 1);
    const updated = { ...webhook, ...changes, updated_at: new Date(updatedAt).toISOString() };
    this.#state.webhooks[this.all.indexOf(webhook)] = updated;
    this.#state.save();
    return updated;
  }
}
