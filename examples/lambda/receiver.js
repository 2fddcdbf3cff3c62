import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createReceiver } from 'posthorn';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';

// Lambda runs several processes, and throws away their memory. The region and the credentials are those of the
// function.
const client = new DynamoDBClient({});
const place = { table: process.env.TABLE, scope: process.env.SCOPE };

export const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  store: createDynamoStore(client, place),
  deadLetters: createDynamoDeadLetters(client, place),
  maxRunMs: 20_000, // below the time-out of the function, because Lambda freezes the process after the answer
});
receiver.on('*', (event) => console.log(event.type, event.id));
