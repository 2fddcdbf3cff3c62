import { expect, test } from 'vitest';
import { accepted, eventAt, openEndpoint } from '../../support/open-endpoint.ts';

test('after a restart an event that comes again is handled again: a memory store ends with its process', async () => {
  const event = eventAt(Date.now());
  const runs: string[] = [];
  const open = (process: string) =>
    openEndpoint({}, (receiver) => receiver.on('transfer.*', () => runs.push(process)));
  const first = await open('first');
  expect(await first.send(event)).toEqual(accepted('processed', event.id));
  expect(await first.send(event)).toEqual(accepted('duplicate', event.id));
  await first.receiver.close();
  const second = await open('second');
  expect(await second.send(event)).toEqual(accepted('processed', event.id));
  expect(second.reports.all).toMatchObject([{ attempt: 1 }]);
  expect(runs).toEqual(['first', 'second']);
});
