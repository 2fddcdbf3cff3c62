import { toOperator } from 'posthorn/operator';
import { expect, test } from 'vitest';
import { ada } from './mounts.ts';
import { createOperated } from './operated.ts';

const statusesOf = async (path: string, requested: readonly string[]): Promise<readonly number[]> => {
  const operator = toOperator(createOperated().receiver, { ...ada, path });
  const answers = requested.map((each) => operator(new Request(`http://a${each}`)));
  return (await Promise.all(answers)).map(({ status }) => status);
};

test('a path of / serves the interface under the paths of its routes', async () => {
  const requested = ['/api/health', '/api/health/', '/', '/health', '/operator/api/health'];
  expect(await statusesOf('/', requested)).toEqual([200, 200, 200, 404, 404]);
});

test('a path of two parts is compared as a whole', async () => {
  const requested = ['/back/office/api/health', '/back/api/health', '/back/offices/api/health', '/back'];
  expect(await statusesOf('/back/office', requested)).toEqual([200, 404, 404, 404]);
});

test('a stranger who asks for another path is not told that of the mount', async () => {
  let asked = 0;
  const authorize = (): undefined => {
    asked += 1;
  };
  const operator = toOperator(createOperated().receiver, { path: '/back-office', authorize });
  const response = await operator(new Request('http://a/'));
  expect(response.status).toBe(404);
  expect(`${await response.text()}${[...response.headers]}`).not.toContain('back-office');
  expect(asked).toBe(0);
});
