import { expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { silenced } from '../../support/silenced.ts';
import { expectNoRefusal } from './blips.ts';

const fixture = useRedis();

// test/queues/bullmq/blips.storm.test.ts has more of them, with each client.
test('a queue whose connection is lost for a moment refuses nothing', async () => {
  const print = silenced('error');
  await expectNoRefusal(fixture, 2, (port) => ({ host: '127.0.0.1', port }));
  expect(print).toHaveBeenCalled();
});
