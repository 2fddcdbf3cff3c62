// An effect in DynamoDB that happens once, however often its handler runs. The transaction that has the
// effect also puts an item with the id of the event, on the condition that there is none. A handler awaits
// it:
//
//   receiver.on('transfer.succeeded', ({ id, data }) => bookOnce(client, id, accountOf(data), data.amount));
//
// It needs the tables `bookings` (key `eventId`) and `balances` (key `account`), and the rights PutItem and
// UpdateItem on them.

import { TransactionCanceledException, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';

/** Adds an amount to a balance once, however often it is called for an event. */
export async function bookOnce(client, eventId, account, amount) {
  const booking = {
    TableName: 'bookings',
    Item: { eventId: { S: eventId }, amount: { N: String(amount) } },
    ConditionExpression: 'attribute_not_exists(eventId)',
  };
  const balance = {
    TableName: 'balances',
    Key: { account: { S: account } },
    UpdateExpression: 'add amount :amount',
    ExpressionAttributeValues: { ':amount': { N: String(amount) } },
  };
  const command = new TransactWriteItemsCommand({ TransactItems: [{ Put: booking }, { Update: balance }] });
  try {
    await client.send(command);
  } catch (error) {
    if (!isBooked(error)) throw error;
  }
}

function isBooked(error) {
  if (!(error instanceof TransactionCanceledException)) return false;
  return error.CancellationReasons?.[0]?.Code === 'ConditionalCheckFailed';
}
