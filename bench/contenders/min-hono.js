import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

const app = new Hono();
app.post('/webhooks', async (context) => {
  const body = Buffer.from(await context.req.arrayBuffer());
  const status = accept(body, context.req.header('x-service-signature'));
  return new Response('ok', { status });
});

serve(createServer(getRequestListener(app.fetch)), countHandled);
