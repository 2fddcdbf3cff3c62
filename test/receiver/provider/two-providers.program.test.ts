import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import { queueServers } from '../../queues/bullmq/queue-servers.ts';
import { testTwoProviders } from './two-providers.ts';

// test/queues/bullmq/two-providers.program.test.ts has their queues.
describe.each(queueServers)('with a store and dead letters in $name', ({ useServer }) => {
  const server = useServer();
  testTwoProviders(async () => {
    const scope = randomUUID();
    return { store: await server.openStore(scope), deadLetters: await server.openDeadLetters(scope) };
  });
});
