import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  GetItemCommand,
  type KeySchemaElement,
} from '@aws-sdk/client-dynamodb';
import { createDynamoStore } from 'posthorn/dynamodb';
import { storeConformance } from 'posthorn/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { packageRoot, startProgram } from '../../support/child-program.ts';
import { snippetWith } from '../../support/snippet.ts';
import { readTemplate } from './cloudformation.ts';
import { useDynamo } from './fixture.ts';
import { pass, silent } from './proxy.ts';
import { tableDefinition, timeToLive } from './table.ts';

const PAGE = 'docs/dynamodb.md';
/** The page leads to its programs. For its template: test/matrix/example-lambda.matrix.test.ts. */
const EXAMPLE = join(packageRoot, 'examples', 'lambda');

describe('docs/dynamodb.md', () => {
  const dynamo = useDynamo();
  afterEach(() => {
    dynamo.proxy.treat = () => pass;
  });

  test('has the table in Terraform', () => {
    const written = snippetWith('aws_dynamodb_table', PAGE, 'hcl').replace(/\s+/g, ' ').trim();
    expect(written).toBe(toTerraform(tableDefinition('posthorn')));
  });

  test('has the rights for the commands that are sent, and no others', () => {
    const { Effect, Action, Resource } = readTemplate(snippetWith('Effect: Allow', PAGE, 'yaml'));
    const folder = join(packageRoot, 'src', 'stores', 'dynamodb');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const sources = files.map((name) => readFileSync(join(folder, name), 'utf8'));
    const imports = sources.join('\n').match(/(?<=^import \{[^}]*)\b\w+(?=Command\b)/gm) ?? [];
    expect(Effect).toBe('Allow');
    expect(Action).toEqual([...new Set(imports)].sort().map((name) => `dynamodb:${name}`));
    const [table = '', index] = Resource;
    expect(table).toMatch(/^arn:aws:dynamodb:[\w-]+:\d+:table\/posthorn$/);
    expect(index).toBe(`${table}/index/${tableDefinition('').LocalSecondaryIndexes?.[0]?.IndexName}`);
  });

  test('names the rights in the message about a missing one', () => {
    const { Action } = readTemplate(snippetWith('Effect: Allow', PAGE, 'yaml'));
    const errors = readFileSync(join(packageRoot, 'src', 'stores', 'dynamodb', 'errors.ts'), 'utf8');
    const [, message = ''] = /AccessDeniedException:([^:]*:[^:]*),\n {2}\w/.exec(errors) ?? [];
    const missing = Action.filter((action: string) => !message.includes(action.replace('dynamodb:', '')));
    expect(missing).toEqual([]);
  });

  test('its program checks a table', async () => {
    expect(snippetWith('check-table', PAGE, 'sh')).toContain(
      'TABLE=posthorn node node_modules/posthorn/examples/lambda/check-table.js\n',
    );
    // By its text, because only an installed package is found from its folder.
    const program = readFileSync(join(EXAMPLE, 'check-table.js'), 'utf8');
    const environment = {
      PATH: process.env.PATH,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      AWS_ENDPOINT_URL_DYNAMODB: dynamo.proxy.url,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: 'eu-central-1',
      TABLE: dynamo.table,
    };
    const args = ['--eval', program];
    const check = startProgram('--input-type=module', environment, packageRoot, args);
    expect(await check.exit, check.lines.join('\n')).toBe(0);
    const place = { table: dynamo.table, scope: 'unused' };
    const cases = storeConformance(() => createDynamoStore(dynamo.client, place));
    const names = [...cases.map(({ name }) => name), 'a letter of 1 MiB', 'a list of letters'];
    expect(check.lines).toEqual(names.map((name) => `ok: ${name}`));
  });

  test('its transaction books an event once', async () => {
    const { client } = dynamo;
    for (const [TableName, AttributeName] of [
      ['bookings', 'eventId'],
      ['balances', 'account'],
    ]) {
      await client.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName, AttributeType: 'S' }],
          KeySchema: [{ AttributeName, KeyType: 'HASH' }],
        }),
      );
    }
    const { bookOnce } = await import(join(EXAMPLE, 'book-once.js'));
    await bookOnce(client, 'evt_1', 'acc', 5);
    await bookOnce(client, 'evt_1', 'acc', 5);
    await bookOnce(client, 'evt_2', 'acc', 7);
    const key = { TableName: 'balances', Key: { account: { S: 'acc' } } };
    expect((await client.send(new GetItemCommand(key))).Item?.amount?.N).toBe('12');
    await expect(bookOnce(client, 'evt_3', '', 5)).rejects.toThrow(/empty string/);
  });

  test('its request handler sends a request again that gets no answer', async () => {
    const page = readFileSync(join(packageRoot, PAGE), 'utf8');
    const [, connectionTimeout, socketTimeout] =
      /`requestHandler: \{ connectionTimeout: (\d+), socketTimeout: (\d+) \}`/.exec(page) ?? [];
    const requestHandler = {
      connectionTimeout: Number(connectionTimeout),
      socketTimeout: Number(socketTimeout),
    };
    const claim = { id: 'evt', token: 't', leaseMs: 20_000, retentionMs: 60_000 };
    for (const wasWritten of [false, true]) {
      const place = { table: dynamo.table, scope: randomUUID() };
      let requests = 0;
      dynamo.proxy.treat = () => {
        requests += 1;
        return requests === 1 ? silent(wasWritten) : pass;
      };
      const store = createDynamoStore(dynamo.openClient({ requestHandler }), place);
      expect(await store.claim(claim)).toMatchObject({ state: 'claimed', attempt: 1 });
      expect(requests).toBe(2);
    }
  });
});

/** The arguments of a table in Terraform, each space of theirs one. */
function toTerraform(definition: CreateTableCommandInput): string {
  const { AttributeDefinitions = [], KeySchema = [], LocalSecondaryIndexes = [] } = definition;
  const attributes = AttributeDefinitions.map(
    ({ AttributeName, AttributeType }) => `attribute { name = "${AttributeName}" type = "${AttributeType}" }`,
  );
  const indexes = LocalSecondaryIndexes.map(
    ({ IndexName, KeySchema = [], Projection }) =>
      `local_secondary_index { name = "${IndexName}" range_key = "${keyIn(KeySchema, 'RANGE')}" ` +
      `projection_type = "${Projection?.ProjectionType}" }`,
  );
  const { TimeToLiveSpecification } = timeToLive('');
  return [
    `resource "aws_dynamodb_table" "${definition.TableName}" {`,
    `name = "${definition.TableName}" billing_mode = "${definition.BillingMode}"`,
    `hash_key = "${keyIn(KeySchema, 'HASH')}" range_key = "${keyIn(KeySchema, 'RANGE')}"`,
    ...attributes,
    ...indexes,
    `ttl { attribute_name = "${TimeToLiveSpecification?.AttributeName}" enabled = true } }`,
  ].join(' ');
}

function keyIn(schema: readonly KeySchemaElement[], type: string): string | undefined {
  return schema.find(({ KeyType }) => KeyType === type)?.AttributeName;
}
