import { createServer } from 'node:http';
import express from 'express';
import { serve } from './serve.js';

let requests = 0;
const app = express();
app.post('/webhooks', express.raw({ type: 'application/json' }), (_request, response) => {
  requests += 1;
  response.end('ok');
});

serve(createServer(app), () => requests);
