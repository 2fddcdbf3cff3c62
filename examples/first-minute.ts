// Shows posthorn in one terminal and on the sandbox's page. In a clone, run `npm start`; with posthorn and
// express installed, `node node_modules/posthorn/dist/examples/first-minute.js`. A sandbox plays the service,
// an Express app receives its events, and both stay up afterwards. They go by the sandbox's clock, which is
// stepped over the pauses between retries.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { createMemoryStore, createReceiver, type Report } from 'posthorn';
import { createClient } from 'posthorn/client';
import { toExpress } from 'posthorn/express';
import { createFileDeadLetters } from 'posthorn/file';
import { createSandbox, defaultCredentials } from 'posthorn/sandbox';
import { announce, authentication, closeOnSignal, port, signingKey } from './environment.ts';

const credentials =
  authentication.type === 'NONE'
    ? ({ type: 'BASIC', basic: { username: 'webhooks', password: 'webhooks-password' } } as const)
    : authentication;

// The service, and the address to which it sends events.
const sandbox = createSandbox();
const { now } = sandbox.clock;
const startedAt = now();
const { url: baseUrl } = await sandbox.listen(4010).catch(() => sandbox.listen());
console.log(`page: ${baseUrl}/`);
const app = express();
const server = app.listen(port);
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;

const client = createClient({ baseUrl, administrator: defaultCredentials.administrator });
const webhook = await client.webhooks.create({ url, authentication: credentials });

// The receiver.
const redisUrl = process.env.REDIS_URL;
const { store, deadLetters, keptIn, whereLettersAre } =
  redisUrl === undefined
    ? {
        store: createMemoryStore({ now }),
        deadLetters: createFileDeadLetters('dead-letters'),
        keptIn: 'memory, dead letters in ./dead-letters',
        whereLettersAre: '--dir dead-letters',
      }
    : await (await import('./redis-parts.ts')).createRedisParts(redisUrl); // needs ioredis
const receiver = createReceiver({
  signingKey: [webhook.secret_signing_key, signingKey],
  authentication: credentials,
  store,
  deadLetters,
  now,
});
receiver
  .on('settlement.approved', (_event, { attempt }) => {
    if (attempt === 1) throw new Error('the ledger is locked');
  })
  .on('dispute.created', () => {
    throw new Error('no such merchant');
  })
  .on('*', () => {})
  .observe(print);
const counts = new Map<string, number>();
receiver.observe(({ outcome }) => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
app.all('/webhooks', toExpress(receiver));
closeOnSignal(server, {
  close: async () => {
    await sandbox.close();
    return receiver.close();
  },
});

// The story. On a terminal it takes its time, so that it can be followed on the page.
const pause = (): Promise<void> => delay(process.stdout.isTTY ? 2_000 : 0);
console.log(`sandbox on ${baseUrl}, receiver on ${url} (${keptIn})`);
console.log(`webhook ${webhook.id} created through the client, with ${credentials.type} credentials\n`);

await say('an event, and a second delivery of it at the same moment');
sandbox.send({ type: 'transfer.succeeded', duplicates: 1 });
await sandbox.settled();

await say('somebody changes an event on its way');
sandbox.send({ type: 'transfer.succeeded', changed: true });
await sandbox.settled();

await say('a handler fails once; the service tries again after a minute');
sandbox.send({ type: 'settlement.approved' });
await sandbox.settled();
await sandbox.clock.advance(60_000);

await say(
  'a handler always fails; the last retry is parked, so that the service does not give up on the endpoint',
);
const poison = sandbox.send({ type: 'dispute.created' });
await sandbox.settled();
for (const minutes of [1, 5, 15]) await sandbox.clock.advance(minutes * 60_000);
const { enabled } = await client.webhooks.retrieve(webhook.id);
console.log(
  `\nthe webhook is ${enabled ? 'still enabled' : 'disabled'}; ${poison.id} waits in the dead letters`,
);

const deliveries = sandbox.deliveries().length;
const outcomes = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
console.log(`${deliveries} deliveries: ${outcomes}. Each with request and answer: ${baseUrl}/`);

const program = relative('', fileURLToPath(new URL('../src/cli/bin.js', import.meta.url)));
const deadLettersCommand = (name: string): string =>
  `node ${program} dead-letters ${name} ${whereLettersAre}`;
console.log(`\nlook at the parked event, and give it up (or replay it: docs/cli.md):
${deadLettersCommand('list')}
${deadLettersCommand(`show ${poison.id}`)}
${deadLettersCommand(`drop ${poison.id}`)}`);
console.log(`\nmake an event happen:
curl -sS ${baseUrl}/sandbox/events -H 'content-type: application/json' -d '{"type":"transfer.succeeded"}'`);
announce(server, { authentication: credentials, now });

async function say(what: string): Promise<void> {
  await pause();
  console.log(`# ${what}`);
}

/** A delivery on one line, by the sandbox's clock since the start. */
function print({ receivedAt, status, outcome, event, attempt, final, error }: Report): void {
  const seconds = Math.round((receivedAt - startedAt) / 1_000);
  const clock = `+${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  // A duplicate does not make an attempt of its own.
  const isAttempt = attempt !== undefined && outcome !== 'duplicate';
  const tries = isAttempt ? `attempt ${attempt}${final ? ' (the last)' : ''}` : '';
  const what = [clock, status, outcome, event?.type, event?.id, tries, error?.message];
  console.log(what.filter((part) => part !== undefined && part !== '').join('  '));
}
