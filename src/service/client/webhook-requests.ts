import type { Authentication } from '../../receiver/authentication/credentials.ts';
import { checkOptions, readInteger } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { paths } from '../shapes/paths.ts';
import {
  type EnabledEvents,
  MAX_LIST_LIMIT,
  type StoredEventFilter,
  type WebhookList,
  type WebhookRequest,
  type WebhookUpdate,
} from '../shapes/webhooks.ts';
import { checkLength } from './check-length.ts';
import { readEnabledEvents } from './enabled-events.ts';
import type { CallOptions, ClientSettings } from './options.ts';
import { withQuery } from './query.ts';
import type { Service, ServiceRequest } from './service.ts';
import { ServiceError } from './service-error.ts';
import {
  type CreatedWebhook,
  creationAnswer,
  type Webhook,
  webhookAnswer,
  webhookListAnswer,
} from './webhook-answers.ts';

/** The wanted part of the list of webhooks. */
export interface PageRequest {
  /** The size of the page, 1 to 100; the default of the service is 10. */
  readonly limit?: number | undefined;
  /** The number of webhooks to skip. */
  readonly offset?: number | undefined;
}

/** A part of the list of webhooks. */
export interface WebhookPage {
  /** The webhooks of this page. */
  readonly webhooks: readonly Webhook[];
  /** The limit, the offset and the count of the page, as the service gives them. */
  readonly page: WebhookList['page'];
}

/** A change that may carry the filters of another webhook, with types outside the catalog. */
type WithStoredFilters<T> = Omit<T, 'enabled_events'> & {
  readonly enabled_events?: EnabledEvents<TypedEvent> | readonly StoredEventFilter[] | undefined;
};

/** The webhook operations: each is one request, or one sequence of pages. */
export interface WebhookRequests {
  create(request: WithStoredFilters<WebhookRequest>, options?: CallOptions): Promise<CreatedWebhook>;
  list(page?: PageRequest, options?: CallOptions): Promise<WebhookPage>;
  listAll(options?: CallOptions): AsyncIterable<Webhook>;
  retrieve(id: string, options?: CallOptions): Promise<Webhook>;
  /** `signingKey` is that of the webhook, if it is known: no error may show it. */
  update(
    id: string,
    changes: WithStoredFilters<WebhookUpdate>,
    options?: CallOptions,
    signingKey?: string,
  ): Promise<Webhook>;
}

/** The parts of the client's settings that the webhooks need. */
export type WebhookSettings = Pick<ClientSettings, 'maxItems' | 'types'>;

export function createWebhookRequests(
  service: Service,
  { maxItems, types }: WebhookSettings,
): WebhookRequests {
  const send = (request: Omit<ServiceRequest, 'area'>, options?: CallOptions) =>
    service({ ...request, area: 'administrator' }, options);
  const get = (name: string, path: string, options?: CallOptions) =>
    send({ name, method: 'GET', path, repeatable: true }, options);
  const list: WebhookRequests['list'] = async (page = {}, options) => {
    const name = 'webhooks.list';
    checkPage(page);
    const answer = await get(name, withQuery(paths.webhooks, { ...page }, name), options);
    const { _embedded, page: sent } = answer.read(webhookListAnswer);
    return { webhooks: _embedded.webhooks, page: sent };
  };
  return {
    async create(request, options) {
      const name = 'webhooks.create';
      checkOptions(request, ['url', 'enabled_events', 'authentication'], name);
      const body = { ...request, enabled_events: readEnabledEvents(request.enabled_events, name, types) };
      const secrets = secretsOf(request.authentication);
      const creation = { name, method: 'POST', path: paths.webhooks, body, secrets, repeatable: false };
      return (await send(creation, options)).read(creationAnswer(body));
    },
    list,
    listAll: (options) => readPages(list, maxItems, options),
    async retrieve(id, options) {
      const name = 'webhooks.retrieve';
      return (await get(name, pathOf(id, name), options)).read(webhookAnswer);
    },
    async update(id, changes, options, signingKey) {
      const name = 'webhooks.update';
      checkOptions(changes, ['url', 'enabled', 'enabled_events', 'authentication'], name);
      const body = { ...changes, enabled_events: readEnabledEvents(changes.enabled_events, name, types) };
      const secrets = [...secretsOf(changes.authentication), ...(signingKey ? [signingKey] : [])];
      // An update sent twice has the same effect as once, so this may be repeated.
      const update = { name, method: 'PUT', path: pathOf(id, name), body, secrets, repeatable: true };
      return (await send(update, options)).read(webhookAnswer);
    },
  };
}

async function* readPages(
  list: WebhookRequests['list'],
  maxItems: number,
  options: CallOptions | undefined,
): AsyncGenerator<Webhook, void, undefined> {
  const seen = new Set<string>();
  for (;;) {
    const { webhooks, page } = await list({ limit: MAX_LIST_LIMIT, offset: seen.size }, options);
    for (const webhook of webhooks) {
      if (seen.has(webhook.id)) throw repeated(webhook.id);
      seen.add(webhook.id);
      checkLength('webhooks.listAll', seen.size, maxItems);
      yield webhook;
    }
    // Compared with the page's own limit, which the service may have lowered. It is not shown whether `count`
    // is that of the page or of the whole list. In both cases the list ends only if `count` is not above the
    // number of webhooks seen.
    const isLast = webhooks.length < page.limit && page.count <= seen.size;
    if (webhooks.length === 0 || isLast) return;
  }
}

function repeated(id: string): ServiceError {
  return new ServiceError(
    'list_repeated',
    `the list of webhooks holds "${id}" twice: it has changed while it was read, in which case reading ` +
      'it again helps, or the service does not read "offset" as the start of a page',
  );
}

function checkPage(page: PageRequest): void {
  checkOptions(page, ['limit', 'offset'], 'webhooks.list');
  const { limit = 1, offset = 0 } = page;
  readInteger('limit of webhooks.list', limit, { most: MAX_LIST_LIMIT });
  readInteger('offset of webhooks.list', offset, { least: 0 });
}

/** In a path, "." and ".." have a special meaning, encoded or not (RFC 3986, section 5.2.4). */
function pathOf(id: string, name: string): string {
  if (typeof id === 'string' && id.isWellFormed() && !['', '.', '..'].includes(id)) {
    return paths.webhook.replace('{webhookId}', encodeURIComponent(id));
  }
  throw new ConfigurationError(`${name} takes the id of a webhook, got ${show(id)}`);
}

/** The secrets in credentials. The credentials may be incomplete, because the service checks them. */
function secretsOf(authentication: Authentication = { type: 'NONE' }): readonly string[] {
  return Object.values(authentication)
    .flatMap((member) => (typeof member === 'object' ? Object.entries(member ?? {}) : []))
    .flatMap(([name, value]) => (typeof value === 'string' && name !== 'username' ? [value] : []));
}
