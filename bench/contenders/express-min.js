import { createServer } from 'node:http';
import express from 'express';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

const app = express();
app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
  response.status(accept(request.body, request.get('x-service-signature'))).end('ok');
});

serve(createServer(app), countHandled);
