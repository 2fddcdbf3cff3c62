/** MIN on Hono's Node server, which reads the body as a stream: only so can it be limited on its way. */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

const app = new Hono();
app.post('/webhooks', async (context) => {
  /** @type {Uint8Array[]} */
  const chunks = [];
  for await (const chunk of context.req.raw.body ?? []) chunks.push(chunk);
  const status = accept(Buffer.concat(chunks), context.req.header('x-service-signature'));
  return new Response('ok', { status });
});

serve(createServer(getRequestListener(app.fetch)), countHandled);
