import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readRawBody } from '../../adapters/node-body.ts';
import type { NodeRequest } from '../../adapters/node-http.ts';

/** A request whose body is what is written to it. */
function openRequest(): NodeRequest & PassThrough {
  const request = {
    headers: {},
    rawHeaders: [],
    httpVersionMajor: 1,
    complete: false,
    aborted: false,
    socket: { destroyed: false },
  };
  return Object.assign(new PassThrough(), request);
}

test('a signal that aborts in the turn in which a body became too large ends no process', async () => {
  const request = openRequest();
  const controller = new AbortController();
  const reading = readRawBody(request, { maxBytes: 10, signal: controller.signal });
  request.on('data', () => controller.abort(new Error('the memory for bodies is full')));
  request.write('x'.repeat(11));
  await expect(reading).rejects.toMatchObject({ code: 'body_too_large' });
  await new Promise((resolve) => setImmediate(resolve));
});

test('a body is let go at once when the signal aborts, and the rest of the request is left', async () => {
  const request = openRequest();
  const controller = new AbortController();
  const held: number[] = [];
  const onProgress = (heldBytes: number): void => void held.push(heldBytes);
  const reading = readRawBody(request, { maxBytes: 100, signal: controller.signal, onProgress });
  request.write('x'.repeat(11));
  await expect.poll(() => held).toEqual([100]);
  controller.abort(new Error('the body did not arrive in time'));
  await expect(reading).rejects.toMatchObject({ code: 'body_incomplete' });
  request.write('left');
  expect(request.isPaused()).toBe(true);
  expect(request.read()?.toString()).toBe('left');
});
