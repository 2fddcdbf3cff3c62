import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import { queueServers } from '../../queues/bullmq/queue-servers.ts';
import { testTwoAccounts } from './two-accounts.ts';
import { testTwoProviders } from './two-providers.ts';

// test/queues/bullmq/two-providers.program.test.ts has their queues.
describe.each(queueServers)('with a store and dead letters in $name', ({ useServer }) => {
  const server = useServer();
  const openPlace = async () => {
    const scope = randomUUID();
    return { store: await server.openStore(scope), deadLetters: await server.openDeadLetters(scope) };
  };
  testTwoProviders(openPlace);
  testTwoAccounts(openPlace);
});
