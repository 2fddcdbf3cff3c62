import { createEvent, signedHeaders } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { expectOperator, operatorOf } from './example-operator.ts';
import { expectDeadLetters, expectDeliveries, KEY, openExample, stopInDelivery } from './example-project.ts';

const files = {
  'src/routes/operator/[...path]/+server.js': `${operatorOf('../../../lib/server/receiver.js')}
export const fallback = ({ request }) => operator(request);
`,
};

/** The packages of each version of SvelteKit, and its answer to a body without a content type. */
const versions = [
  { version: 3, packages: [], untyped: 'Cross-site POST form submissions are forbidden' },
  {
    version: 2,
    packages: ['@sveltejs/kit@2', '@sveltejs/adapter-node@5', '@sveltejs/vite-plugin-svelte@6', 'vite@7'],
    untyped: 'signature_mismatch',
  },
];

test.each(versions)(
  'examples/sveltekit receives on SvelteKit $version, and its dead letters are replayed by the command',
  async ({ packages, untyped }) => {
    // SvelteKit 3 does not run on Node.js 20.
    const { start } = openExample('sveltekit', { node: '24.21.0', packages, files });
    const example = await start();
    await expectDeliveries(example);
    expect(await untypedAnswer(example.url)).toEqual([403, expect.stringContaining(untyped)]);
    await expectDeadLetters(example, 'src/lib/server/receiver.js');
    await expectOperator(example);
    expect(await stopInDelivery(example)).toBe(0);
  },
);

async function untypedAnswer(url: string): Promise<[status: number, text: string]> {
  const body = Buffer.from(JSON.stringify(createEvent('transfer.succeeded')));
  const { 'content-type': _type, ...headers } = signedHeaders(body, { key: KEY });
  const answer = await fetch(url, { method: 'POST', headers, body });
  return [answer.status, await answer.text()];
}
