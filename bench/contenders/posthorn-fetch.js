import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { toFetch } from '../../dist/adapters/fetch.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const receive = toFetch(createBenchReceiver());
const app = new Hono();
app.post('/webhooks', (context) => receive(context.req.raw, context));

serve(createServer(getRequestListener(app.fetch)), countHandled);
