import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, gateways } from '../adapters/lambda-gateway.ts';
import { Servers } from '../redis/servers.ts';
import { openExample } from './example-project.ts';
import { installRuntime, startRuntime } from './lambda-runtime.ts';

const PROJECT = join(import.meta.dirname, 'projects', 'lambda');
const KEY = 'whsec_of_the_examples';
const servers = new Servers();
let runtime: ReturnType<typeof installRuntime>;

beforeAll(() => {
  runtime = installRuntime();
});

afterAll(async () => {
  await servers.stop();
  runtime.remove();
});

/** A request as one of the gateways hands it over. */
function eventOf({ toEvent }: Gateway, event: object, key = KEY): object {
  const body = Buffer.from(JSON.stringify(event));
  const headers = Object.entries(signedHeaders(body, { key }));
  return toEvent({ method: 'POST', path: '/webhooks', headers, body });
}

describe('examples/lambda, in the runtime of Lambda on Node.js 24', () => {
  test('handles each event once, from whatever gateway, rejects what is no request, and answers in time', async () => {
    const { port } = await servers.single();
    const environment = { SIGNING_KEY: KEY, REDIS_URL: `redis://127.0.0.1:${port}` };
    const root = openExample('lambda').folder;
    const { invoke } = await startRuntime(runtime.folder, { root, handler: 'handler.handler' }, environment);
    for (const [name, gateway] of Object.entries(gateways)) {
      const event = createEvent('transfer.succeeded', { note: 'Grüße 🎺' });
      const answers = [
        await invoke(eventOf(gateway, event)),
        await invoke(eventOf(gateway, event)),
        await invoke(eventOf(gateway, event, 'forged')),
      ];
      expect(answers, name).toMatchObject([
        { kind: 'response', body: { statusCode: 200, body: expect.stringContaining('"processed"') } },
        { kind: 'response', body: { statusCode: 200, body: expect.stringContaining('"duplicate"') } },
        { kind: 'response', body: { statusCode: 403, body: expect.stringContaining('signature_mismatch') } },
      ]);
    }
    expect(await invoke({ Records: [{ eventSource: 'aws:sqs', body: '{}' }] })).toMatchObject({
      kind: 'error',
      body: { errorType: 'ConfigurationError', errorMessage: expect.stringContaining('"aws:sqs"') },
    });
    copyFileSync(join(PROJECT, 'hanging.js'), join(root, 'hanging.js'));
    const hanging = await startRuntime(runtime.folder, { root, handler: 'hanging.handler' }, environment);
    const startedAt = performance.now();
    const [gateway] = Object.values(gateways);
    if (gateway === undefined) throw new Error('unreachable: there are some');
    const answer = await hanging.invoke(eventOf(gateway, createEvent('dispute.won')), 2_000);
    expect(answer.body).toMatchObject({ statusCode: 503, body: expect.stringContaining('deadline_reached') });
    // deadlineMs is 25,000: it is the remaining time that ends it.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });
});

test('the runtime on Node.js 24 starts no handler with three parameters', async () => {
  const { refused } = await startRuntime(runtime.folder, { root: PROJECT, handler: 'callback.handler' });
  expect((await refused()).body).toMatchObject({ errorType: 'Runtime.CallbackHandlerDeprecated' });
});
