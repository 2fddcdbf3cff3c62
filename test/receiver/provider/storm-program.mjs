// Receivers of two providers in one process, which share a store and dead letters. That of Stripe has accounts.
// In Redis they also share a queue, of which the process has a worker for each; in PostgreSQL their handlers
// are those of an inbox. Some attempts fail, and poison does until the file HEALED is there. A request for
// /replay gives each dead letter to both receivers, and is answered with the codes of their reports.

import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver, PermanentError } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { toNode } from 'posthorn/node';
import { bankingService, stripe } from 'posthorn/providers';
import { openPostgres, openRedis } from '../../queues/bullmq/process-servers.mjs';

const { REDIS_PORT, POSTGRES_PORT, SCOPE, LOG, HEALED, KEY, OPTIONS } = process.env;

// Synchronously: what a kill cuts off after this has been noted.
function note(...words) {
  appendFileSync(LOG, `${[process.pid, ...words, process.hrtime.bigint()].join(' ')}\n`);
}

const onError = (error) => process.stdout.write(`server ${error.message}\n`);
const { store, deadLetters, queueOptions, inbox } =
  POSTGRES_PORT === undefined
    ? await openRedis(Number(REDIS_PORT), SCOPE, onError)
    : openPostgres(Number(POSTGRES_PORT), SCOPE, onError);
const queue = inbox === undefined ? createBullQueue(queueOptions) : undefined;
const shared = { store, deadLetters, queue, ...JSON.parse(OPTIONS) };

const receivers = {
  'banking-service': open(bankingService({ retries: [500, 2_500, 7_500] }), ({ data }) => data),
  stripe: open(stripe({ retries: { forMs: 20_000, least: 3 } }), ({ data }) => data.object, {
    account: ({ url }) => url.split('/')[2],
  }),
};

/** By `read` a handler finds what only events of this provider have. */
function open(provider, read, options = {}) {
  const ownOf = (account) => (account === undefined ? provider.name : `${provider.name}/${account}`);
  const handler =
    (name) =>
    async (event, { event: { key, account }, transaction }) => {
      const { sender, poison } = read(event);
      const words = [key, ownOf(account), name, sender];
      note('begun', ...words);
      if (poison === name && !existsSync(HEALED)) throw new PermanentError('poison');
      await sleep(Math.random() * 40);
      if (Math.random() < 0.1) throw new Error('this attempt fails');
      await transaction?.query('insert into handled values ($1, $2, $3, $4)', words);
      note('handled', ...words);
      // Kills are to fall here too, between the effect and its record.
      await sleep(Math.random() * 20);
    };
  const receiver = createReceiver({
    ...shared,
    ...options,
    provider,
    signingKey: (account) => `${KEY} ${ownOf(account)}`,
  });
  if (inbox === undefined) {
    receiver
      .on('*', handler('book'), { name: 'book' })
      .on('*', handler('mail'), { name: 'mail', queue: true });
    createBullWorker(receiver, { ...queueOptions, concurrency: 5 });
  } else {
    receiver.on('*', inbox.once('book', handler('book'))).on('*', inbox.once('mail', handler('mail')));
  }
  return receiver.observe(({ event, handlers, warnings }) => {
    // A handler of a report with warnings may run again.
    const recorded = warnings.length === 0 ? handlers.filter(({ ok }) => ok) : [];
    for (const { name } of recorded) note('recorded', event.key ?? event.id, ownOf(event.account), name);
  });
}

async function replayAll(response) {
  const answers = [];
  for await (const letter of deadLetters.list()) {
    for (const [name, receiver] of Object.entries(receivers)) {
      const { code } = await receiver.replay(letter);
      answers.push({ own: letter.provider ?? 'banking-service', receiver: name, code });
    }
  }
  response.end(JSON.stringify(answers));
}

const mounted = Object.fromEntries(Object.entries(receivers).map(([name, one]) => [name, toNode(one)]));
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const [, name] = request.url.split('/');
  if (name !== 'replay') return mounted[name](request, response);
  replayAll(response).catch((error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${process.pid} ${server.address().port}\n`);
});
