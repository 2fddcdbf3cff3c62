import { createDynamoDeadLetters } from 'posthorn/dynamodb';
import { createRedisDeadLetters } from 'posthorn/redis';
import { expect, test } from 'vitest';
import { moveOfPage } from '../../docs/moving-on.ts';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { createLetter } from '../kit/conformance.ts';
import { useRedis } from '../redis/fixture.ts';
import { useDynamo } from './fixture.ts';

const redis = useRedis();
const dynamo = useDynamo();
const scope = 'billing-production';

test('the lines of the page move all dead letters from Redis to DynamoDB, in their order', async () => {
  const from = createRedisDeadLetters(await redis.connect(), { scope });
  const to = createDynamoDeadLetters(dynamo.client, { table: dynamo.table, scope, ...ampleTime });
  const letters = Array.from({ length: 30 }, (_, index) =>
    createLetter({ parkedAt: 1_740_830_400_000 + index }),
  );
  for (const letter of letters) await from.put(letter);
  const move = await moveOfPage();
  await move(from, to);
  expect(await readAll(to.list())).toEqual(letters);
  expect(await readAll(from.list())).toEqual([]);
});
