// Accepts one event, and ends by itself: the journal may write, fail or hang.
import { appendFileSync, writeFileSync } from 'node:fs';
import { createReceiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';

const { FILE, KEY, MODE } = process.env;
writeFileSync(FILE, '');

const journal = {
  record: async (batch) => {
    if (MODE === 'fails') throw new Error('no database');
    if (MODE === 'hangs') await new Promise(() => {});
    appendFileSync(FILE, `${JSON.stringify(batch)}\n`);
  },
  get: async () => undefined,
  list: async function* () {},
  prune: async () => 0,
};

const receiver = createReceiver({ signingKey: KEY, journal }).on('*', () => {});
const { outcome } = await receiver.accept(createEvent('transfer.succeeded'), { source: 'a list' });
if (outcome !== 'processed') process.exitCode = 1;
