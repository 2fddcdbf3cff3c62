/** Bundles the worker, starts it in workerd, and prints what became of deliveries as one line of JSON. */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';

const key = 'matrix-key';
const bundling = {
  bundle: true,
  format: 'esm',
  external: ['node:*'],
  write: false,
};
const { outputFiles } = await build({ ...bundling, entryPoints: ['worker.js'] });
/** The bundle that docs/runtimes.md measures: what a Worker takes along, without the Worker itself. */
const taken = {
  contents: `export { createReceiver } from 'posthorn'; export { toFetch } from 'posthorn/fetch'`,
  resolveDir: '.',
};
const minified = (await build({ ...bundling, stdin: taken, minify: true })).outputFiles[0].contents;
const workers = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: process.argv[2],
  compatibilityFlags: ['nodejs_compat'],
});
const base = await workers.ready;

async function send(event, { path = '/webhooks', signedBy = key } = {}) {
  return outcomeOf(await deliver(new URL(path, base), event, { key: signedBy }));
}

async function outcomeOf(response) {
  const { outcome, code } = await response.json();
  return `${response.status} ${outcome ?? code}`;
}

/** Asks the interface of operators; resolves with the status and the body. */
async function ask(path, { token = 'anna', body, ...headers } = {}) {
  const response = await fetch(new URL(`/operator${path}`, base), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return [response.status, await response.json()];
}

/** Resolves with the status and the type of a file that the browser of an operator loads. */
async function typeOf(path) {
  const headers = { authorization: 'Bearer anna' };
  const response = await fetch(new URL(`/operator${path}`, base), { headers });
  await response.text();
  return `${response.status} ${response.headers.get('content-type')}`;
}

/** What operators get of a parked event. */
async function operate() {
  await send(createEvent('transfer.created'), { path: '/parking' });
  const replay = { body: { selection: {} } };
  const problemOf = async (asked) => (await ask('/api/dead-letters/replay', { ...replay, ...asked }))[1].code;
  return {
    waiting: (await ask('/api/health'))[1].deadLetters.waiting,
    stranger: await problemOf({ token: 'eve' }),
    failing: await problemOf({ token: 'broken' }),
    foreign: await problemOf({ origin: 'https://evil.example' }),
    replayed: (await ask('/api/dead-letters/replay', replay))[1].results?.map(({ outcome }) => outcome),
    document: (await ask('/api/openapi.json'))[1].openapi,
    latest: (await ask('/api/deliveries'))[1].deliveries?.[0].source,
    page: await typeOf('/'),
    script: await typeOf('/page/page.js'),
  };
}

/** Resolves once the event is reported with an outcome. */
async function reported(id, outcome, late) {
  await until(async () => {
    const reports = await (await fetch(new URL('/reports', base))).json();
    return reports.some((report) => report.id === id && report.outcome === outcome && report.late === late);
  });
  return outcome;
}

async function until(holds) {
  const end = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What the Worker of docs/adapters.md answers, which takes its key from the environment. */
async function outcomeOfSnippet(compatibilityDate) {
  const snippet = await build({ ...bundling, entryPoints: ['snippet.js'] });
  const worker = new Miniflare({
    modules: true,
    script: snippet.outputFiles[0].text,
    compatibilityDate,
    compatibilityFlags: ['nodejs_compat'],
    bindings: { SIGNING_KEY: key },
  });
  const outcome = await outcomeOf(
    await deliver(await worker.ready, createEvent('transfer.succeeded'), { key }),
  );
  await worker.dispose();
  return outcome;
}

const transfer = createEvent('transfer.created');
const concurrent = createEvent('transfer.updated');
const slow = createEvent('dispute.created');
const stuck = createEvent('merchant.created');
const results = {
  bytes: minified.length,
  compressedBytes: gzipSync(minified).length,
  snippets: {
    [process.argv[2]]: await outcomeOfSnippet(process.argv[2]),
    '2025-04-01': await outcomeOfSnippet('2025-04-01'),
  },
  keyNeverCame: await send(transfer),
  processed: await send(transfer),
  duplicate: await send(transfer),
  concurrent: (await Promise.all([concurrent, concurrent, concurrent].map((event) => send(event)))).sort(),
  together: new Set(
    await Promise.all(Array.from({ length: 40 }, () => send(createEvent('transfer.created')))),
  ),
  forged: await send(transfer, { signedBy: 'another' }),
  tooLarge: await send(createEvent('transfer.created', { text: 'x'.repeat(2_000) })),
  empty: await outcomeOf(await fetch(base, { method: 'POST', headers: signedHeaders('', { key }) })),
  wrongMethod: await outcomeOf(await fetch(base)),
  late: (await Promise.all([send(slow), send(slow)])).sort(),
  lateEnd: await reported(slow.id, 'processed', true),
  afterIt: await send(slow),
  endedWithItsRequest: await send(stuck, { path: '/forgetful' }),
  joined: await send(stuck),
  operated: await operate(),
};
await until(async () => (await send(stuck)) === '200 processed');
results.together = [...results.together];
const reports = await (await fetch(new URL('/reports', base))).json();
results.warnings = reports.flatMap(({ warnings }) => warnings).filter((text) => text.startsWith('memory_'));
process.stdout.write(`${JSON.stringify(results)}\n`);
await workers.dispose();
