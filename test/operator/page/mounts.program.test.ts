import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import type { Operable } from 'posthorn/operator';
import { toNodeOperator, toOperator } from 'posthorn/operator';
import { expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { ada } from '../mounts.ts';
import { createOperated, idOf, letters } from '../operated.ts';
import { afterShowing, openAt } from './looks.ts';

type Serve = (receiver: Operable) => Promise<string>;

const onExpress =
  (place: 'before' | 'after'): Serve =>
  (receiver) => {
    const app = express();
    if (place === 'after') app.use(express.json());
    app.use(toNodeOperator(receiver, ada));
    if (place === 'before') app.use(express.json());
    return listenUntilTheEnd(app);
  };

const onFastify: Serve = (receiver) => {
  const operator = toNodeOperator(receiver, ada);
  const app = fastify();
  app.all('/operator/*', ({ body, raw }, reply) => {
    reply.hijack();
    operator(Object.assign(raw, { body }), reply.raw);
  });
  onTestFinished(async () => void (await app.close()));
  return app.listen({ port: 0, host: '127.0.0.1' });
};

const onFetch: Serve = (receiver) => {
  const operator = toOperator(receiver, ada);
  return listenUntilTheEnd(getRequestListener((request) => operator(request)));
};

/** The pattern of Fastify's route has no `/operator`. */
const servedMounts: readonly (readonly [name: string, serve: Serve, pages: readonly string[]])[] = [
  ['Express, before express.json()', onExpress('before'), ['/operator/', '/operator']],
  ['Express, after express.json()', onExpress('after'), ['/operator/', '/operator']],
  ['Fastify', onFastify, ['/operator/']],
  ['fetch', onFetch, ['/operator/', '/operator']],
];

test.each(servedMounts)('on %s a letter of the list is opened and replayed', async (_name, serve, pages) => {
  for (const path of pages) {
    const { handled, left, receiver } = createOperated({ parked: letters(2) });
    const origin = await serve(receiver);
    const { asked, faults, page } = await openAt(`${origin}${path}`);
    await page.getByRole('link', { name: 'transfer.succeeded' }).first().click();
    await page.getByText('"amount": 1').or(page.getByText('"data": 1 member')).waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('button', { name: 'Replay 1' }).click();
    await page.getByText('Done: 1 processed.').waitFor();
    expect([handled, [...left.keys()]]).toEqual([[idOf(1)], [idOf(2)]]);
    await afterShowing(page, () => page.getByRole('button', { name: 'Close' }).click());
    expect(faults).toEqual([]);
    const elsewhere = asked.filter((url) => !url.startsWith(`${origin}/operator`));
    expect(elsewhere).toEqual([]);
  }
});
