import { test } from 'vitest';
import { useD1 } from './fixture.ts';
import { compareWithModel } from './model-walks.ts';

const d1 = useD1();

test('the store in D1 behaves as the reference model in 300 random walks', async () => {
  await compareWithModel(d1, 300);
});
