import { createReceiver } from 'posthorn';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { toFetch } from 'posthorn/fetch';
import { createEvent, storeConformance } from 'posthorn/testing';

const scope = 'billing-matrix';
let open;

/** Once in each isolate: the first request brings the binding. */
function receiveWith({ DB }) {
  if (open !== undefined) return open;
  const deadLetters = createD1DeadLetters(DB, { scope });
  const store = createD1Store(DB, { scope });
  const receiver = createReceiver({ signingKey: 'matrix-key', store, deadLetters, leaseMs: 2_000 });
  receiver.on('*', ({ id }) => DB.prepare('insert into handled (id) values (?)').bind(id).run());
  open = toFetch(receiver);
  return open;
}

/** The names of the cases that fail, and why. */
async function conformance({ DB }) {
  const failed = [];
  for (const { name, run } of storeConformance(() => createD1Store(DB, { scope: crypto.randomUUID() })))
    await run().catch((error) => failed.push(`${name}: ${error.message}`));
  return failed;
}

/** The rows that each operation has read and written, as D1 counts them. */
async function costs({ DB }) {
  const counted = { read: 0, written: 0 };
  const watched = {
    prepare: (sql) => DB.prepare(sql),
    async batch(statements) {
      const results = await DB.batch(statements);
      for (const { meta } of results) {
        counted.read += meta.rows_read;
        counted.written += meta.rows_written;
      }
      return results;
    },
  };
  const store = createD1Store(watched, { scope: 'costs' });
  const lease = { leaseMs: 20_000, retentionMs: 60_000 };
  const costOf = async (operation) => {
    Object.assign(counted, { read: 0, written: 0 });
    const { state } = await operation;
    return `${state}: ${counted.read} read, ${counted.written} written`;
  };
  // Of these completions none deletes expired rows.
  const { random } = Math;
  Math.random = () => 0.99;
  const request = { id: 'evt', token: 't', ...lease };
  const key = { id: 'handled:key:4:book:tr', leaseMs: 20_000, retentionMs: 20_000 };
  const result = {
    claim: await costOf(store.claim(request)),
    renewal: await costOf(store.renew(request)),
    busy: await costOf(store.claim({ ...request, token: 'u' })),
    completion: await costOf(store.complete(request)),
    duplicate: await costOf(store.claim({ ...request, token: 'u' })),
    key: await costOf(store.claim({ ...key, token: 't' })),
    keyReleased: await costOf(store.release({ ...key, token: 't', handled: [] })),
    keyAgain: await costOf(store.claim({ ...key, token: 'u' })),
  };
  Math.random = random;
  return result;
}

const letterOf = (size) => ({
  id: createEvent('transfer.failed').id,
  rawBody: new Uint8Array(size).map((_, index) => index % 251),
  receivedAt: 1,
  parkedAt: 2,
  ...{ reason: 'handler_failed', message: 'é💶', headers: {}, attempts: 1, handled: [] },
});

/** Whether letters of some sizes come back as they were, and late and half ones do not come back. */
async function letters({ DB }) {
  const deadLetters = createD1DeadLetters(DB, { scope: 'letters' });
  const isSame = async (size) => {
    const letter = letterOf(size);
    await deadLetters.put(letter);
    for await (const listed of deadLetters.list()) {
      const isEqual = Buffer.compare(listed.rawBody, letter.rawBody) === 0;
      return `${isEqual ? 'same' : 'changed'}, ${(await deadLetters.remove(letter.id)) ? 'removed' : 'kept'}`;
    }
    return 'missing';
  };
  return {
    short: await isSame(1_000),
    long: await isSame(4_000_000),
    late: await putLate(DB, deadLetters),
    half: await readHalf(DB, deadLetters),
  };
}

/** Stores a letter of several rows that arrives after its caller has given up. */
async function putLate(DB, deadLetters) {
  const arrived = [];
  const slow = {
    prepare: (sql) => DB.prepare(sql),
    async batch(statements) {
      await scheduler.wait(600);
      const result = DB.batch(statements);
      arrived.push(result.catch(() => {}));
      return result;
    },
  };
  const late = createD1DeadLetters(slow, { scope: 'letters', commandTimeoutMs: 900 });
  const letter = letterOf(2_000_000);
  const end = await late.put(letter).then(
    () => 'stored',
    () => 'refused',
  );
  // The first batch reads the version in time; the second one is late.
  while (arrived.length < 2) await scheduler.wait(50);
  await Promise.all(arrived);
  return `${end}, ${(await deadLetters.get(letter.id)) === undefined ? 'missing' : 'there'}`;
}

/** Reads a letter whose part in the middle is missing. */
async function readHalf(DB, deadLetters) {
  const letter = letterOf(2_000_000);
  await deadLetters.put(letter);
  await DB.prepare('delete from posthorn_dead_letter_parts where part = 1').run();
  return deadLetters.get(letter.id).then(
    () => 'read',
    ({ code }) => code,
  );
}

const tools = { '/conformance': conformance, '/costs': costs, '/letters': letters };

export default {
  async fetch(request, env, ctx) {
    const tool = tools[new URL(request.url).pathname];
    return tool === undefined ? receiveWith(env)(request, env, ctx) : Response.json(await tool(env));
  },
};
