import { createSandbox, type Sandbox, type SandboxOptions } from 'posthorn/sandbox';
import { onTestFinished } from 'vitest';

/** What a request was answered. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A sandbox that is served until the test is over, and raw requests to it. */
export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  readonly url: string;
  /** Has it send an event, and waits until all that it leads to for now is over. */
  readonly settle: (...sent: Parameters<Sandbox['send']>) => Promise<ReturnType<Sandbox['send']>>;
  /** Sends the text as it is. */
  readonly call: (
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
    body?: string,
  ) => Promise<Reply>;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** `sandbox-admin:sandbox-password` in base64, made by `printf … | base64`. */
export const ADMINISTRATOR = {
  authorization: 'Basic c2FuZGJveC1hZG1pbjpzYW5kYm94LXBhc3N3b3Jk',
  ...JSON_TYPE,
};
export const BANKING = {
  authorization: 'Bearer sandbox-jwt',
  'x-api-key': 'sandbox-key',
  ...JSON_TYPE,
};
export const PROFILE = { authorization: 'Bearer sandbox-access', ...JSON_TYPE };
export const CONTROL = JSON_TYPE;

/** 12:00:00.500 on the first of March 2026. */
export const START_AT: number = Date.parse('2026-03-01T12:00:00.500Z');

/** Opens a sandbox whose clock stands still, unless told otherwise. */
export function openSandbox(
  options: SandboxOptions = { clock: 'manual', startAt: START_AT },
): Promise<OpenedSandbox> {
  return serveUntilTheEnd(createSandbox(options));
}

export async function serveUntilTheEnd(sandbox: Sandbox): Promise<OpenedSandbox> {
  onTestFinished(() => sandbox.close());
  const { url } = await sandbox.listen();
  return openedAt(sandbox, url);
}

/** The calls of tests to a sandbox that is served at an address. */
export function openedAt(sandbox: Sandbox, url: string): OpenedSandbox {
  const settle: OpenedSandbox['settle'] = async (...sent) => {
    const event = sandbox.send(...sent);
    await sandbox.settled();
    return event;
  };
  return { sandbox, url, settle, call: callTo(url) };
}

export function callTo(url: string): OpenedSandbox['call'] {
  return async (method, path, headers = {}, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
}

/** What the tests read of a webhook. */
export interface ShownWebhook {
  readonly id: string;
  readonly url: string;
  readonly enabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly secret_signing_key: string | null;
}

/** Creates a webhook out of a body as text, and gives it back with its key. */
export async function createWebhook(
  { call }: Pick<OpenedSandbox, 'call'>,
  body: string,
): Promise<ShownWebhook & { readonly secret_signing_key: string }> {
  const reply = await call('POST', '/payments/na/webhooks', ADMINISTRATOR, body);
  if (reply.status !== 201) throw new Error(`no webhook: ${JSON.stringify(reply.body)}`);
  return reply.body as ShownWebhook & { readonly secret_signing_key: string };
}

export async function retrieveWebhook({ call }: OpenedSandbox, id: string): Promise<ShownWebhook> {
  const reply = await call('GET', `/payments/na/webhooks/${id}`, ADMINISTRATOR);
  if (reply.status !== 200) throw new Error(`no webhook: ${JSON.stringify(reply.body)}`);
  return reply.body as ShownWebhook;
}
