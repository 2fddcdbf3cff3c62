import { randomUUID } from 'node:crypto';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { parseExposition } from '../observers/exposition.ts';
import { builtFile, Examples } from './examples.ts';
import { sendAsStripe, stripeEvent } from './stripe-events.ts';

const examples = new Examples();
const TWO_DAYS_MS = 172_800_000;
const environment = { SIGNING_KEY: 'key', STRIPE_SIGNING_KEY: 'whsec_of_the_examples', METRICS_PORT: '0' };

async function sendAsService(url: string, event: object): Promise<[number, unknown]> {
  const response = await deliver(url, event, { key: environment.SIGNING_KEY });
  const { outcome, code } = JSON.parse(await response.text());
  return [response.status, outcome ?? code];
}

/** Returns the values of a metric, by the names of their receivers. */
async function scrape(url: string, name: string, outcome: string): Promise<Record<string, number>> {
  const families = parseExposition(await (await fetch(url)).text());
  const samples = families.get(name)?.samples ?? [];
  const wanted = samples.filter(({ labels }) => labels.outcome === outcome);
  return Object.fromEntries(wanted.map(({ labels, value }) => [labels.receiver, value]));
}

test('examples/two-senders handles the same id once for each sender, and tells them apart', async () => {
  await examples.listen('two-senders', environment, async (server, banking) => {
    const stripe = new URL('stripe', banking).href;
    const id = `evt_${randomUUID()}`;
    const event = { ...createEvent('transfer.succeeded', { id: 'TR_1' }), id };
    const sendBoth = async (ageMs = 0): Promise<unknown> => [
      await sendAsService(banking, { ...event, created_at: new Date(Date.now() - ageMs).toISOString() }),
      await sendAsStripe(stripe, stripeEvent({ id, ageMs }), environment.STRIPE_SIGNING_KEY),
    ];
    const bothEnd = (status: number, outcome: string) => [
      [status, outcome],
      [status, outcome],
    ];
    expect(await sendBoth()).toEqual(bothEnd(202, 'queued'));
    const worker = examples.start('two-senders/worker', environment);
    await worker.line(new RegExp(` transfer\\.succeeded ${id} `));
    await worker.line(new RegExp(`^invoice\\.paid ${id} 1250$`));
    expect(await sendBoth()).toEqual(bothEnd(200, 'duplicate'));
    // A key of the one opens nothing of the other.
    const forged = stripeEvent({ id: 'evt_forged' });
    expect(await sendAsStripe(stripe, forged, environment.SIGNING_KEY)).toEqual([403, 'signature_mismatch']);

    const both = { banking: 1, stripe: 1 };
    const metrics = new URL('/metrics', banking).href;
    expect(await scrape(metrics, 'posthorn_deliveries_total', 'queued')).toEqual(both);
    expect(await scrape(metrics, 'posthorn_deliveries_total', 'duplicate')).toEqual(both);
    const [metricsOfWorker = ''] = /http\S+/.exec(await worker.line(/^working/)) ?? [];
    // A job is counted once it has ended, which is after the line of its handler.
    await expect.poll(() => scrape(metricsOfWorker, 'posthorn_jobs_total', 'processed')).toEqual(both);
    worker.kill('SIGTERM');
    expect(await worker.exit, worker.lines.join('\n')).toBe(0);
    expect(worker.lines.filter((line) => line.includes(id))).toHaveLength(2);
    expect(server.lines.filter((line) => line.includes(id))).toEqual([]);
  });
});

test('the dead letters of examples/two-senders say whose they are, and are of one receiver alone', async () => {
  await examples.listen('two-senders', environment, async (_server, banking) => {
    const id = `evt_${randomUUID()}`;
    // Neither sender would send it again.
    const old = { ...createEvent('transfer.succeeded', { id: 'TR_1' }), id };
    const created_at = new Date(Date.now() - TWO_DAYS_MS).toISOString();
    expect(await sendAsService(banking, { ...old, created_at })).toEqual([200, 'parked']);
    const stripe = new URL('stripe', banking).href;
    const damaged = JSON.stringify({ id, object: 'event', created: Math.floor(Date.now() / 1_000) });
    expect(await sendAsStripe(stripe, damaged, environment.STRIPE_SIGNING_KEY)).toEqual([200, 'parked']);

    const posthorn = async (sender: string, ...args: readonly string[]) => {
      const receiver = builtFile(`two-senders/${sender}-receiver`);
      const words = ['dead-letters', ...args, '--receiver', receiver, '--json'];
      const { exit, lines } = examples.posthorn(words, environment);
      return { code: await exit, output: lines.join('\n') };
    };
    const key = `handled:from:6:stripe:-:${id}`;
    const { output } = await posthorn('banking', 'list');
    expect(output).toContain(`"id":"${id}","type":"transfer.succeeded"`);
    expect(output).toContain(`"id":"${key}","eventId":"${id}","provider":"stripe"`);
    const refused = await posthorn('banking', 'replay', key);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('"provider_mismatch"') });
    const replayed = await posthorn('banking', 'replay', id);
    expect(replayed).toMatchObject({ code: 0, output: expect.stringContaining('"processed"') });
    expect(await posthorn('stripe', 'drop', key)).toMatchObject({ code: 0 });
    expect((await posthorn('stripe', 'list')).output).toMatch(/^{"kind":"summary","letters":0,/);
  });
});
