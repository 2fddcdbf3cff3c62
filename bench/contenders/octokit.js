import { createServer } from 'node:http';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { signingKey } from './credentials.js';
import { serve } from './serve.js';

let handled = 0;
const webhooks = new Webhooks({ secret: signingKey });
webhooks.on('push', () => {
  handled += 1;
});

serve(createServer(createNodeMiddleware(webhooks, { path: '/webhooks' })), () => handled);
