import { page, webhook } from './literal-bodies.ts';
import {
  json,
  type LiteralService,
  openLiteralService,
  type Reply,
  type SeenRequest,
} from './literal-service.ts';

/** Where it breaks off: at which request, counted from 1, and whether that one is still carried out. */
export interface Break {
  readonly at: number;
  readonly carriedOut: boolean;
  /** By default a status that is final: a caller that has died does not try again. */
  readonly reply?: Reply;
}

const BROKEN_OFF = json('{"status":400,"message":"broken off"}', 400);

/** What is kept of a webhook: its members in JSON, and its key. */
interface Kept {
  readonly members: Record<string, string>;
  readonly key: string;
}

/**
 * Plays the webhook part of the service, as the interface tells it, and can break off as if the caller had
 * died.
 */
export class WebhookService {
  readonly kept: Map<string, Kept> = new Map();
  /** Which webhooks were enabled after each request. */
  readonly history: (readonly string[])[] = [];
  #http: LiteralService | undefined;
  #break: Break | undefined;
  #upTo = 0;
  #count = 0;
  #onRequest: (line: string) => void = () => {};

  async open(): Promise<string> {
    this.#http = await openLiteralService((request) => this.#respond(request));
    return this.#http.url;
  }

  /** Each request with its body, and with what the URL has in common left out. */
  get sent(): readonly string[] {
    return (this.#http?.requests ?? []).map(({ line, body }) =>
      `${line} ${body}`.replace('/payments/na/webhooks', '').replace(/ +/, ' ').trim(),
    );
  }

  get enabled(): readonly string[] {
    return [...this.kept].filter(([, { members }]) => members.enabled === 'true').map(([id]) => id);
  }

  add(id: string, key: string, members: Record<string, string> = {}): void {
    this.kept.set(id, { key, members: { enabled: 'true', ...members } });
  }

  /** From here on requests are counted, and those from the break up to another one are not answered. */
  breakAt(point: Break | undefined, upTo: number = Number.POSITIVE_INFINITY): void {
    this.#count = 0;
    this.#break = point;
    this.#upTo = upTo;
  }

  /** Called with each request once it was carried out, before it is answered. */
  onRequest(listener: (line: string) => void): void {
    this.#onRequest = listener;
  }

  #respond(request: SeenRequest): Reply {
    this.#count += 1;
    const { at = Number.POSITIVE_INFINITY, carriedOut, reply = BROKEN_OFF } = this.#break ?? {};
    const isBroken = this.#count >= at && this.#count <= this.#upTo;
    const isCarriedOut = !isBroken || (this.#count === at && carriedOut === true);
    const answer = isCarriedOut ? this.#carryOut(request) : reply;
    this.history.push(this.enabled);
    this.#onRequest(request.line);
    return isBroken ? reply : answer;
  }

  #carryOut({ line, body }: SeenRequest): Reply {
    const [, method = '', id = ''] = /^(\w+) \/payments\/na\/webhooks(?:\/(\w+))?(?:\?.*)?$/.exec(line) ?? [];
    if (method === 'POST') return this.#create(body);
    if (id === '') return json(page([...this.kept].map(([name, { members }]) => webhook(name, members))));
    const found = this.kept.get(id);
    if (found === undefined) return json('{"status":404,"message":"Webhook not found"}', 404);
    if (method === 'PUT') this.#write(found.members, body);
    return json(webhook(id, found.members));
  }

  #create(body: string): Reply {
    const id = `NEW${this.kept.size}`;
    this.add(id, `whsec_literal_signing_key_${id}`, { created_at: '"2026-04-01T00:00:00Z"' });
    const { members = {}, key = '' } = this.kept.get(id) ?? {};
    this.#write(members, body);
    return json(webhook(id, { ...members, secret_signing_key: `"${key}"` }), 201);
  }

  #write(members: Record<string, string>, body: string): void {
    for (const [name, value] of Object.entries<unknown>(JSON.parse(body))) {
      members[name] = JSON.stringify(value);
    }
  }
}
