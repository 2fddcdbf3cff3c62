import { randomUUID } from 'node:crypto';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { parseExposition } from '../observers/exposition.ts';
import { Examples } from './examples.ts';

const examples = new Examples();
const merchants = Array.from({ length: 40 }, (_, index) => `m${index + 1}`);

test('examples/accounts serves 40 merchants, each with its key, and the same id is an event of each', async () => {
  const environment = { METRICS_PORT: '0' };
  await examples.listen('accounts', environment, async (_server, base) => {
    const insert = (merchant: string) =>
      `insert into merchants values ('${merchant}', array['key of ${merchant}'])`;
    examples.postgres.sql(merchants.map(insert).join('; '));
    const id = `evt_${randomUUID()}`;
    const event = { ...createEvent('transfer.succeeded', { id: 'TR_1' }), id };
    const send = async (merchant: string, key = `key of ${merchant}`, sent = event): Promise<unknown> => {
      const response = await deliver(`${base}${merchant}`, sent, { key });
      const { outcome, code } = JSON.parse(await response.text());
      return [response.status, outcome ?? code];
    };
    const sendAll = () => Promise.all(merchants.map((merchant) => send(merchant)));

    expect(await send('m1', 'key of m2')).toEqual([403, 'signature_mismatch']);
    expect(await sendAll()).toEqual(merchants.map(() => [202, 'queued']));
    const worker = examples.start('accounts/worker', environment);
    await Promise.all(merchants.map((merchant) => worker.line(new RegExp(`^${merchant} \\S+ ${id}$`))));
    expect(await sendAll()).toEqual(merchants.map(() => [200, 'duplicate']));
    expect(await send('m41', 'key of m1')).toEqual([404, 'account_unknown']);

    // A key that is changed in the table counts at once.
    examples.postgres.sql("update merchants set signing_keys = array['new', 'key of m1'] where id = 'm1'");
    const another = { ...event, id: `evt_${randomUUID()}` };
    expect(await send('m1', 'new', another)).toEqual([202, 'queued']);
    expect(await send('m1')).toEqual([200, 'duplicate']);
    examples.postgres.sql("update merchants set signing_keys = array['new'] where id = 'm1'");
    expect(await send('m1')).toEqual([403, 'signature_mismatch']);
    await worker.line(new RegExp(`^m1 \\S+ ${another.id}$`));

    const [metrics = ''] = /http\S+/.exec(await worker.line(/^working/)) ?? [];
    const processed = async (): Promise<Record<string, number>> => {
      const families = parseExposition(await (await fetch(metrics)).text());
      const jobs = families.get('posthorn_jobs_total')?.samples ?? [];
      return Object.fromEntries(jobs.map(({ labels, value }) => [labels.account, value]));
    };
    // A job is counted once it has ended, which is after the line of its handler.
    await expect.poll(processed).toEqual({ ...Object.fromEntries(merchants.map((m) => [m, 1])), m1: 2 });
    worker.kill('SIGTERM');
    expect(await worker.exit, worker.lines.join('\n')).toBe(0);
    expect(worker.lines.filter((line) => line.includes(id))).toHaveLength(merchants.length);
  });
});
