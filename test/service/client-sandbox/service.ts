import { type Client, type ClientOptions, createClient } from 'posthorn/client';
import { createSandbox, defaultCredentials, type Sandbox } from 'posthorn/sandbox';
import { onTestFinished } from 'vitest';
import { Gateway } from './gateway.ts';

/** A sandbox whose clock stands still, and a client of it, until the test is over. */
export interface Service {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly gateway: Gateway;
  /** Another client of the same sandbox, with other credentials. */
  readonly clientWith: (options: Partial<ClientOptions>) => Client;
}

/** 12:00:00.250 on the first of March 2026. */
export const START_AT: number = Date.parse('2026-03-01T12:00:00.250Z');

export async function openService(): Promise<Service> {
  const sandbox = createSandbox({ clock: 'manual', startAt: START_AT });
  onTestFinished(() => sandbox.close());
  const gateway = new Gateway((await sandbox.listen()).url);
  const baseUrl = await gateway.open();
  const { administrator, banking, profile } = defaultCredentials;
  const clientWith: Service['clientWith'] = (options) =>
    createClient({ baseUrl, administrator, banking, profile, ...options });
  return { sandbox, client: clientWith({}), gateway, clientWith };
}
