// Started by test/docs/snippets.ts. Imports compiled snippets, one after the other, in one process: a start for each
// takes longer than all of them. A line before and after each says which has printed what is between.

import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { getReceiverToken } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';

const { kind, snippets } = JSON.parse(process.argv[2]);

const print = (text) => void process.stdout.write(`${text}\n`);

/** Uses the connection that a module exports. */
async function connect({ pool, redis }) {
  if (redis !== undefined) {
    redis.on('error', print);
    await redis.set('readme', 'connected');
    print(await redis.get('readme'));
  }
  if (pool !== undefined) print((await pool.query("select 'connected' as answer")).rows[0].answer);
}

/** Starts an application of a module of NestJS, delivers an event to it, and closes it. */
async function deliverTo(module) {
  const app = await NestFactory.create(module, { logger: false, abortOnError: false });
  const processed = new Promise((resolve) => {
    app.get(getReceiverToken()).observe(({ outcome }) => outcome === 'processed' && resolve(outcome));
  });
  try {
    await app.listen(0, '127.0.0.1');
    const url = `${await app.getUrl()}/webhooks`;
    const answer = await deliver(url, createEvent('transfer.succeeded'), { key: process.env.SIGNING_KEY });
    print(`answered ${(await answer.json()).outcome}, and ${await processed}`);
  } finally {
    await app.close();
  }
}

for (const { name, path, nestModule } of snippets) {
  print(`begin ${name}`);
  try {
    const exported = await import(pathToFileURL(path).href);
    if (kind === 'module') await connect(exported);
    if (kind === 'NestJS') await deliverTo(exported[nestModule]);
    print(`end ${name}`);
  } catch (error) {
    print(`${inspect(error)}\nfail ${name}`);
    process.exitCode = 1;
  }
}
// Connections of modules keep their process; programs come to an end by themselves, and servers with the tests.
if (kind === 'module') process.exit();
