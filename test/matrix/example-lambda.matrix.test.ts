import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, gateways } from '../adapters/lambda-gateway.ts';
import { expectReplayed, parkedEvent } from '../examples/dead-letter-commands.ts';
import { readTemplate, tableOf } from '../stores/dynamodb/cloudformation.ts';
import { useDynamo } from '../stores/dynamodb/fixture.ts';
import { tableDefinition, timeToLive } from '../stores/dynamodb/table.ts';
import { packageRoot } from '../support/child-program.ts';
import { snippetWith } from '../support/snippet.ts';
import { openExample, packedPosthorn } from './example-project.ts';
import { installRuntime, startRuntime } from './lambda-runtime.ts';

const PROJECT = join(import.meta.dirname, 'projects', 'lambda');
const KEY = 'whsec_of_the_examples';
const TABLE = 'of-the-template';
const dynamo = useDynamo();
let runtime: ReturnType<typeof installRuntime>;

beforeAll(() => {
  runtime = installRuntime();
});

afterAll(() => {
  runtime.remove();
});

const { Resources } = readTemplate(
  readFileSync(join(packageRoot, 'examples', 'lambda', 'template.yaml'), 'utf8'),
);

/** A request as one of the gateways hands it over. */
function eventOf({ toEvent }: Gateway, event: object, key = KEY): object {
  const body = Buffer.from(JSON.stringify(event));
  const headers = Object.entries(signedHeaders(body, { key }));
  return toEvent({ method: 'POST', target: '/webhooks', headers, body });
}

describe('the template of examples/lambda', () => {
  const { Properties } = Resources.Function;

  test('has the table of docs/dynamodb.md', () => {
    const { table, timeToLive: expiry } = tableOf(Resources.Table, TABLE);
    expect(table).toEqual(tableDefinition(TABLE));
    expect(expiry).toEqual(timeToLive(TABLE));
    expect(Resources.Table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  test('gives the function the rights of docs/dynamodb.md, on its table only', () => {
    const { Effect, Action } = readTemplate(snippetWith('Effect: Allow', 'docs/dynamodb.md', 'yaml'));
    const Resource = [{ 'Fn::GetAtt': 'Table.Arn' }, { 'Fn::Sub': `\${Table.Arn}/index/by-position` }];
    expect(Properties.Policies).toEqual([{ Statement: [{ Effect, Action, Resource }] }]);
  });

  test('gives the function its environment, and more time than its handlers have', () => {
    const source = readFileSync(join(packageRoot, 'examples', 'lambda', 'receiver.js'), 'utf8');
    const names = source.match(/(?<=process\.env\.)\w+/g) ?? [];
    expect(Object.keys(Properties.Environment.Variables).sort()).toEqual(names.sort());
    const [, maxRunMs] = /maxRunMs: ([\d_]+)/.exec(source) ?? [];
    expect(Properties.Timeout * 1_000).toBeGreaterThan(Number(maxRunMs?.replace('_', '')));
    expect(Properties.Timeout).toBeLessThan(30);
  });
});

describe('examples/lambda, in the runtime of Lambda on Node.js 24', () => {
  test('handles each event once, from whatever gateway, rejects other invocations, and answers in time; its letters are replayed', async () => {
    const { table, timeToLive: expiry } = tableOf(Resources.Table, TABLE);
    await dynamo.client.send(new CreateTableCommand(table));
    await dynamo.client.send(new UpdateTimeToLiveCommand(expiry));
    const environment = {
      SIGNING_KEY: KEY,
      SCOPE: 'example-development',
      TABLE,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_ENDPOINT_URL_DYNAMODB: dynamo.proxy.url,
    };
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
    const [gateway] = Object.values(gateways);
    if (gateway === undefined) throw new Error('unreachable: there are some');
    const parked = parkedEvent();
    expect(await invoke(eventOf(gateway, parked))).toMatchObject({
      body: { statusCode: 200, body: expect.stringContaining('"parked"') },
    });
    await expectReplayed(packedPosthorn(root, environment), './receiver.js', parked.id);
    expect(await invoke({ Records: [{ eventSource: 'aws:sqs', body: '{}' }] })).toMatchObject({
      kind: 'error',
      body: { errorType: 'ConfigurationError', errorMessage: expect.stringContaining('"aws:sqs"') },
    });
    copyFileSync(join(PROJECT, 'hanging.js'), join(root, 'hanging.js'));
    const hanging = await startRuntime(runtime.folder, { root, handler: 'hanging.handler' }, environment);
    const startedAt = performance.now();
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
