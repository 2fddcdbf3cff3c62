// Started by test/docs/snippets.program.test.ts. Imports compiled snippets, one after the other, in one process: a start
// for each takes longer than all of them. A line before and after each says which has printed what is between.

import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

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

for (const { name, path } of snippets) {
  print(`begin ${name}`);
  try {
    const exported = await import(pathToFileURL(path).href);
    if (kind === 'module') await connect(exported);
    print(`end ${name}`);
  } catch (error) {
    print(`${inspect(error)}\nfail ${name}`);
    process.exitCode = 1;
  }
}
// Connections of modules keep their process; programs come to an end by themselves, and servers with the tests.
if (kind === 'module') process.exit();
