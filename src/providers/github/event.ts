import type { IdentifiedEvent } from '../payload.ts';

/** The members that payloads of many events have. A payload has further members. */
export interface GitHubPayload {
  /** The action on the resource, for example `opened`. */
  readonly action?: string;
  /** The user that caused the event. */
  readonly sender?: { readonly id: number; readonly login: string };
  /** The repository, if the event is of one. */
  readonly repository?: { readonly id: number; readonly name: string; readonly full_name: string };
  /** The organization, if the event is of one. */
  readonly organization?: { readonly id: number; readonly login: string };
  /** The installation, if the webhook is of a GitHub App. */
  readonly installation?: { readonly id: number };
  /** Any other member of the payload. */
  readonly [member: string]: unknown;
}

/** An event of GitHub (https://docs.github.com/en/webhooks/webhook-events-and-payloads). */
export interface GitHubEvent<Type extends string = string, Payload extends object = GitHubPayload>
  extends IdentifiedEvent {
  /** The header `X-GitHub-Delivery`: the same for each webhook that gets the event, and for a redelivery. */
  readonly id: string;
  /** The header `X-GitHub-Event`, for example `issues` or `push`. */
  readonly name: string;
  /** `<name>.<action>` if the payload has an action, for example `issues.opened`; otherwise the name. */
  readonly type: Type;
  /** The payload as GitHub sent it. */
  readonly payload: Payload;
}
