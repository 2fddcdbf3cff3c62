const { existsSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { createReceiver, PermanentError, PosthornError } = require('posthorn');
const { createClient, ServiceError } = require('posthorn/client');
const { createFileDeadLetters } = require('posthorn/file');
const { toNode } = require('posthorn/node');
const { createSandbox } = require('posthorn/sandbox');
const { createEvent, deliver } = require('posthorn/testing');

const key = 'key-of-jest';
let directory;
let server;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'posthorn-jest-'));
});

afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(directory, { recursive: true });
});

async function serve(receiver) {
  server = createServer(toNode(receiver));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

test('handles a signed event once', async () => {
  const handler = jest.fn();
  const receiver = createReceiver({ signingKey: key })
    .on('transfer.succeeded', handler)
    .observe(() => {});
  const url = await serve(receiver);
  const event = createEvent('transfer.succeeded');
  const answers = [];
  for (const _delivery of [1, 2]) answers.push(await (await deliver(url, event, { key })).json());
  expect(answers.map(({ outcome }) => outcome)).toEqual(['processed', 'duplicate']);
  expect(handler).toHaveBeenCalledTimes(1);
  expect((await deliver(url, event, { key: 'another' })).status).toBe(403);
});

test('parks the event of a PermanentError in a file', async () => {
  const receiver = createReceiver({ signingKey: key, deadLetters: createFileDeadLetters(directory) })
    .on('*', () => {
      throw new PermanentError('no retry helps');
    })
    .observe(() => {});
  const event = createEvent('dispute.created');
  const response = await deliver(await serve(receiver), event, { key });
  expect(await response.json()).toEqual({ outcome: 'parked', id: event.id });
  expect(await receiver.deadLetters.get(event.id)).toMatchObject({ id: event.id });
});

test('says why Node.js could not do something, although Jest has an Error class of its own', async () => {
  const letters = join(directory, 'letters');
  const warnings = [];
  const receiver = createReceiver({ signingKey: key, deadLetters: createFileDeadLetters(letters) })
    .on('*', () => {
      throw new PermanentError('no retry helps');
    })
    .observe((report) => warnings.push(...report.warnings));
  const url = await serve(receiver);
  rmSync(letters, { recursive: true });
  writeFileSync(letters, 'a file in the place of the directory');
  await deliver(url, createEvent('dispute.created'), { key });
  expect(warnings).toEqual([expect.stringMatching(/^dead_letter_not_stored: .*ENOTDIR: not a directory/)]);
  expect(warnings[0]).not.toContain('\n');
});

test('talks to the sandbox by the client', async () => {
  const state = join(directory, 'state.json');
  const sandbox = createSandbox({ clock: 'manual', state });
  const { url } = await sandbox.listen();
  try {
    const administrator = { username: 'administrator', password: 'wrong' };
    const client = createClient({ baseUrl: url, administrator });
    const error = await client.webhooks.list({ limit: 1 }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toBeInstanceOf(PosthornError);
    expect(error.status).toBe(401);
    expect(existsSync(state)).toBe(true);
  } finally {
    await sandbox.close();
  }
});
