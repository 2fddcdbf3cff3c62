import { createServer, type Server } from 'node:http';
import { toNode } from '../../../adapters/node.ts';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import { createClient } from '../../service/client/create-client.ts';
import { createSandbox, defaultCredentials, type Sandbox } from '../../service/sandbox/index.ts';
import {
  type CredentialOptions,
  type JsonOption,
  readAuthentication,
  type SigningOptions,
} from '../options.ts';
import type { Output } from '../output.ts';
import { listenOn, SANDBOX_PORT } from '../sandbox-server.ts';
import { serve } from '../server.ts';
import { createDemoReceiver } from './receiver.ts';
import type { DemoStorage } from './storage.ts';

/** The options of `posthorn demo`. */
export interface DemoOptions extends JsonOption, SigningOptions {
  readonly port?: number;
}

/** A running sandbox, and a receiver that gets its events. */
export interface DemoServers {
  readonly sandbox: Sandbox;
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  /** The outcome of each delivery so far. */
  readonly outcomes: readonly string[];
  readonly storage: DemoStorage;
  isWebhookEnabled(): Promise<boolean>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const RECEIVER_PORT = 3000;

/** Starts a sandbox and a receiver, and prints the address of the sandbox's page first. */
export async function startServers(
  { port, key = '', ...credentials }: DemoOptions,
  createStorage: (now: () => number) => DemoStorage,
  output: Output,
): Promise<DemoServers> {
  const authentication = authenticationOf(credentials);
  const sandbox = createSandbox({ signingKey: key === '' ? undefined : key });
  const sandboxUrl = await openPage(sandbox, output);
  const server = createServer();
  const receiverUrl = `${await listen(server, port)}/webhooks`;
  const { administrator } = defaultCredentials;
  const { webhooks } = createClient({ baseUrl: sandboxUrl, administrator });
  const webhook = await webhooks.create({ url: receiverUrl, authentication });

  const { now } = sandbox.clock;
  const storage = createStorage(now);
  const { store, deadLetters, description: keptIn } = storage;
  const signingKey = webhook.secret_signing_key;
  const receiver = createDemoReceiver({ store, deadLetters, signingKey, authentication, now }, output);
  const outcomes: string[] = [];
  receiver.observe(({ outcome }) => void outcomes.push(outcome));
  server.on('request', toNode(receiver, { path: '/webhooks' }));
  const made = { url: receiverUrl, webhook: webhook.id, authentication: authentication.type };
  output.print({ kind: 'receiver', ...made, keptIn }, () => [
    `sandbox on ${sandboxUrl}, receiver on ${receiverUrl} (${keptIn})`,
    `webhook ${webhook.id} created through the client, with ${authentication.type} credentials`,
    '',
  ]);
  return {
    ...{ sandbox, sandboxUrl, receiverUrl, outcomes, storage },
    isWebhookEnabled: async () => (await webhooks.retrieve(webhook.id)).enabled,
    close: async () => {
      server.close();
      await sandbox.close();
      await receiver.close();
    },
  };
}

/** Resolves with the sandbox's address. A taken port is not an error here. */
async function openPage(sandbox: Sandbox, output: Output): Promise<string> {
  const usual = listenOn(sandbox, SANDBOX_PORT, HOST);
  const { url } = await usual.catch(() => sandbox.listen(0, HOST));
  output.print({ kind: 'page', url: `${url}/` }, () => `page: ${url}/`);
  return url;
}

/** Returns the given credentials, else BASIC ones, so that the scenario has some. */
function authenticationOf(options: CredentialOptions): Authentication {
  const given = readAuthentication(options);
  if (given.type !== 'NONE') return given;
  return { type: 'BASIC', basic: { username: 'webhooks', password: 'webhooks-password' } };
}

/** Only a port that is asked for must be free. */
function listen(server: Server, port: number | undefined): Promise<string> {
  if (port !== undefined) return serve(server, port, HOST);
  return serve(server, RECEIVER_PORT, HOST).catch(() => serve(server, 0, HOST));
}
