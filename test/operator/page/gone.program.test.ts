import { createServer, type RequestListener } from 'node:http';
import { createMemoryStore } from 'posthorn';
import { toNodeOperator } from 'posthorn/operator';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, stopServer } from '../../support/listen.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { ada } from '../mounts.ts';
import { createOperated, idOf, letters } from '../operated.ts';
import { press, told } from './dialog.ts';
import { afterShowing, openAt } from './looks.ts';

// The answer of the first portion is lost with the server, though its events are handled.
test('an application that is gone, and another one on its port, end a deed together', async () => {
  const left = new Map(letters(45).map((one) => [one.id, one]));
  const shared = { deadLetters: createMapDeadLetters(left), store: createMemoryStore() };
  const first = createOperated({
    ...shared,
    handle: ({ id }) => {
      if (id === idOf(20)) void stopServer(server);
    },
  });
  const second = createOperated(shared);
  let serve: RequestListener = toNodeOperator(first.receiver, ada);
  const server = createServer((request, response) => serve(request, response));
  const origin = await startServer(server);
  onTestFinished(() => stopServer(server));
  const { page } = await openAt(`${origin}/operator/`);
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 45');
  await told(page, 'The application does not answer.');
  await told(page, 'Stopped: nothing done yet. 45 events left.');
  await expect.poll(() => left.size).toBe(25);
  await press(page, 'Go on');
  await told(page, 'The application does not answer.');
  await told(page, 'Stopped: nothing done yet. 45 events left.');
  serve = toNodeOperator(second.receiver, ada);
  server.listen(Number(new URL(origin).port), '127.0.0.1');
  await press(page, 'Go on');
  await told(
    page,
    'Done: 25 processed. 20 events not tried: handled meanwhile, perhaps by a request whose answer was lost.',
  );
  expect([first.handled.length, left.size]).toEqual([20, 0]);
  expect([...first.handled, ...second.handled].toSorted()).toEqual(letters(45).map(({ id }) => id));
  await afterShowing(page, () => press(page, 'Close'));
});
