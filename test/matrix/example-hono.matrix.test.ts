import { test } from 'vitest';
import { expectExample, openExample } from './example-project.ts';

test('examples/hono receives', async () => {
  await expectExample(await openExample('hono').start());
});
