import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore, createReceiver, type HandlerContext, PermanentError } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createEvent } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { packageRoot } from '../support/child-program.ts';
import { deliveryOf } from '../support/delivery-of.ts';
import { errorOf } from '../support/error-of.ts';
import { letterOf } from '../support/letter-of.ts';
import { deliveryOfOther, otherSender } from '../support/other-sender.ts';
import { KEY } from '../support/served.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** What is stored for events of other senders, and what a later version may store: as files of JSON. */
const read = (name: string): string =>
  readFileSync(join(packageRoot, 'test', 'stored-forms', 'senders', name), 'utf8');

const OTHER_KEY = 'handled:from:4:acme:-:evt_other';
const ATTEMPT = { attempt: 1, final: false };

/** A receiver of that sender, with letters in files and a queue. */
function open(letters: Readonly<Record<string, string>> = {}) {
  const directory = temporaryDirectory();
  const deadLetters = createFileDeadLetters(directory);
  const pathOf = (id: string): string =>
    join(directory, `${createHash('sha256').update(id).digest('hex')}.json`);
  for (const [id, text] of Object.entries(letters)) writeFileSync(pathOf(id), text);
  const queue = new ListQueue();
  const options = { signingKey: KEY, store: createMemoryStore(), deadLetters, queue };
  const ran: string[] = [];
  const state = { isRefusing: false };
  const handle = (_: unknown, { event }: HandlerContext): void => {
    if (state.isRefusing) throw new PermanentError('refused for good');
    ran.push(event.key);
  };
  const acme = createReceiver({ ...options, provider: otherSender() })
    .on('transfer.*', handle, { name: 'book' })
    .on('refund', handle, { name: 'settle', queue: true });
  const service = createReceiver(options)
    .on('transfer.*', handle, { name: 'book' })
    .on('dispute.*', handle, { name: 'settle', queue: true });
  for (const receiver of [acme, service]) onTestFinished(async () => void (await receiver.close()));
  acme.observe(() => {});
  service.observe(() => {});
  return { acme, deadLetters, pathOf, queue, ran, service, state };
}

/** The members of an object by the type of each. */
function shapeOf(json: string): unknown {
  return Object.entries(JSON.parse(json)).map(([name, value]) => [name, typeof value]);
}

test('a letter of another sender has the form that is recorded, and is replayed', async () => {
  const { acme, deadLetters, pathOf, ran, state } = open({ [OTHER_KEY]: read('letter.json') });
  expect(await acme.replay(await letterOf(deadLetters, OTHER_KEY))).toMatchObject({ outcome: 'processed' });
  expect(ran).toEqual([OTHER_KEY]);
  state.isRefusing = true;
  await acme.receive(deliveryOfOther({ event_id: 'evt_new', type: 'transfer.succeeded' }));
  const written = readFileSync(pathOf('handled:from:4:acme:-:evt_new'), 'utf8');
  expect(shapeOf(written)).toEqual(shapeOf(read('letter.json')));
});

test('a job of another sender has the form that is recorded, and is run', async () => {
  const { acme, queue, ran, service } = open();
  const job: unknown = JSON.parse(read('job.json'));
  expect(await service.dispatch(job, ATTEMPT)).toMatchObject({ error: { code: 'provider_mismatch' } });
  expect(await acme.dispatch(job, ATTEMPT)).toMatchObject({ outcome: 'processed' });
  expect(ran).toEqual([OTHER_KEY]);
  await acme.receive(deliveryOfOther({ event_id: 'evt_new', type: 'refund' }));
  expect(shapeOf(JSON.stringify(queue.take()))).toEqual(shapeOf(read('job.json')));
});

test('a letter and a job of the service have no member that versions before did not know', async () => {
  const { pathOf, queue, service, state } = open();
  state.isRefusing = true;
  await service.receive(deliveryOf({ ...createEvent('transfer.succeeded'), id: 'evt_1' }));
  await service.receive(deliveryOf(createEvent('dispute.won')));
  const sender = ['eventId', 'provider', 'account'];
  for (const written of [readFileSync(pathOf('evt_1'), 'utf8'), JSON.stringify(queue.take())])
    expect(Object.keys(JSON.parse(written)).filter((name) => sender.includes(name))).toEqual([]);
});

test.each([
  ['sealed-letter.json', 'it is sealed'],
  ['newer-letter.json', 'its version is 2'],
])('%s, of a later version, is refused by name', async (name, reason) => {
  const { deadLetters } = open({ evt_later: read(name) });
  await expect(deadLetters.get('evt_later')).rejects.toMatchObject(
    errorOf('dead_letter_unreadable', `update posthorn: ${reason}`),
  );
});

test.each([
  ['sealed-job.json', 'sealed: is there: the job is sealed'],
  ['newer-job.json', 'version: is newer than 1'],
])('%s, of a later version, is refused by name, and never parked', async (name, reason) => {
  const { acme, deadLetters, ran, service } = open();
  for (const receiver of [acme, service])
    for (const final of [false, true]) {
      const report = await receiver.dispatch(JSON.parse(read(name)), { attempt: 1, final });
      expect(report).toMatchObject({ outcome: 'failed', error: errorOf('job_unreadable', reason) });
    }
  const failure = { code: 'run_abandoned', message: 'stalled' } as const;
  const swept = await service.dispatch(JSON.parse(read(name)), { attempt: 1, final: true, failure });
  expect(swept).toMatchObject({ outcome: 'failed', code: 'job_unreadable' });
  expect(ran).toEqual([]);
  expect(await deadLetters.count?.({ limit: 9 })).toBe(0);
});
