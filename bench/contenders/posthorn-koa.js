import { createServer } from 'node:http';
import Koa from 'koa';
import { toKoa } from '../../dist/adapters/koa.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const app = new Koa();
app.use(toKoa(createBenchReceiver()));

serve(createServer(app.callback()), countHandled);
