import { expect } from 'vitest';
import type { RunningExample } from './example-project.ts';

/** The interface of operators of a receiver in a module, for an example that has none. */
export function operatorOf(receiverModule: string): string {
  return `import { toOperator } from 'posthorn/operator';
import { receiver } from '${receiverModule}';

const operator = toOperator(receiver, {
  path: '/operator',
  authorize: ({ headers }) => headers.get('authorization') === 'Bearer anna' && { name: 'anna' },
});
`;
}

/** The page of operators and its script, which the page names relative to its own address. */
export async function expectOperatorPage(
  { url }: Pick<RunningExample, 'url'>,
  headers: Record<string, string>,
  paths: readonly string[] = ['/operator', '/operator/'],
): Promise<void> {
  for (const path of paths) {
    const page = await fetch(new URL(path, url), { headers });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, base = ''] = /<base href="([^"]*)">/.exec(await page.text()) ?? [];
    const script = await fetch(new URL('page/page.js', new URL(base, page.url)), { headers });
    const type = 'text/javascript; charset=utf-8';
    expect([script.status, script.headers.get('content-type')]).toEqual([200, type]);
    expect(await script.text()).toContain("get('receivers')");
  }
}

/**
 * Checks that a framework hands over the path, the headers and the body, and sends the answer. Its mount
 * serves the page at the paths `pages`.
 */
export async function expectOperator(
  { url }: Pick<RunningExample, 'url'>,
  pages: readonly string[] = ['/operator', '/operator/'],
): Promise<void> {
  const ask = async (path: string, body?: object, token = 'anna') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const asked = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(new URL(`/operator/api${path}`, url), { headers, ...asked });
    return [answer.status, await answer.json()];
  };
  expect(await ask('/health')).toMatchObject([200, { store: { ok: true } }]);
  const replay = '/dead-letters/replay';
  expect(await ask(replay, { ids: ['evt'] })).toMatchObject([200, { results: [{ outcome: 'missing' }] }]);
  expect(await ask(replay, { ids: ['evt'] }, 'eve')).toMatchObject([403, { code: 'forbidden' }]);
  expect(await ask('/nothing')).toMatchObject([404, { code: 'not_found' }]);
  await expectOperatorPage({ url }, { authorization: 'Bearer anna' }, pages);
}
