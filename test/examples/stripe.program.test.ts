import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { builtFile, Examples } from './examples.ts';
import { sendAsStripe, stripeEvent } from './stripe-events.ts';

const examples = new Examples();
const DAY_MS = 86_400_000;

test('examples/stripe handles an event once, refuses another key, and parks a failure', async () => {
  const environment = { SIGNING_KEY: 'whsec_of_the_examples' };
  await examples.listen('stripe', environment, async (program, url) => {
    const send = (payload: string, key = environment.SIGNING_KEY) => sendAsStripe(url, payload, key);
    const id = `evt_${randomUUID()}`;
    expect(await send(stripeEvent({ id }))).toEqual([200, 'processed']);
    await program.line(new RegExp(`^${id} in_1 1250 eur$`));
    expect(await send(stripeEvent({ id }))).toEqual([200, 'duplicate']);
    expect(await send(stripeEvent({ id: 'evt_forged' }), 'whsec_another')).toEqual([
      403,
      'signature_mismatch',
    ]);

    const damaged = stripeEvent({ id: 'evt_damaged', ageMs: 2 * DAY_MS, data: {} });
    expect(await send(damaged)).toEqual([200, 'parked']);
    const receiver = ['--receiver', builtFile('stripe/receiver')];
    const posthorn = async (...args: readonly string[]): Promise<string> => {
      const { exit, lines } = examples.posthorn(['dead-letters', ...args, ...receiver], environment);
      expect(await exit, lines.join('\n')).toBe(0);
      return lines.join('\n');
    };
    expect(await posthorn('list', '--json')).toContain('"eventId":"evt_damaged","provider":"stripe"');
    await posthorn('drop', 'evt_damaged');
    expect(await posthorn('list', '--json')).toMatch(/^{"kind":"summary","letters":0,/);
  });
});
