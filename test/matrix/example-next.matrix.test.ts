import { expect, test } from 'vitest';
import { expectOperator, operatorOf } from './example-operator.ts';
import { expectDeadLetters, expectDeliveries, openExample, stopInDelivery } from './example-project.ts';

test('examples/next receives, built and started by Next.js', async () => {
  const files = {
    'app/operator/[[...path]]/route.ts': `${operatorOf('../../../receiver.js')}
export { operator as GET, operator as POST };
`,
  };
  const example = openExample('next', { files });
  const running = await example.start({ listening: /Local:\s+(http:\S+)/ });
  await expectDeliveries(running);
  await expectDeadLetters(running);
  await expectOperator(running);
  // Next.js finishes its requests by itself.
  expect(await stopInDelivery(running)).toBe(143);
});
