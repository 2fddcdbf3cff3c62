import { createServer } from 'node:http';
import express from 'express';
import { toExpress } from '../../dist/adapters/express.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const app = express();
app.post('/webhooks', toExpress(createBenchReceiver()));

serve(createServer(app), countHandled);
