// Checks a table of DynamoDB in a minute, with the region and the credentials of the environment:
//
//   AWS_REGION=eu-central-1 TABLE=posthorn node node_modules/posthorn/examples/lambda/check-table.js
//
// It needs the rights of the receiver, and uses the scope `posthorn-check`. It prints a line for each
// requirement that holds, and ends with the error of the first that does not.

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { storeConformance } from 'posthorn/testing';

const client = new DynamoDBClient({});
const place = { table: process.env.TABLE, scope: 'posthorn-check' };

for (const { name, run } of storeConformance(() => createDynamoStore(client, place))) {
  await run();
  console.log('ok:', name);
}

const letters = createDynamoDeadLetters(client, place);
const common = {
  id: 'check',
  reason: 'check',
  headers: {},
  attempts: 1,
  handled: [],
  receivedAt: 0,
  parkedAt: 0,
};

const rawBody = Buffer.alloc(1024 * 1024, '{}');
await letters.put({ ...common, message: '{}', rawBody });
const letter = await letters.get('check');
if (!rawBody.equals(letter.rawBody) || !(await letters.remove('check')))
  throw new Error('the letter has changed');
console.log('ok: a letter of 1 MiB');

await letters.put({ ...common, message: '', rawBody: Buffer.from('{}') });
const listed = [];
for await (const { id } of letters.list()) listed.push(id);
await letters.remove('check');
if (!listed.includes('check')) throw new Error('the list lacks a letter');
console.log('ok: a list of letters');

client.destroy();
