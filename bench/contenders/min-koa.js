import { createServer } from 'node:http';
import Koa from 'koa';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

/**
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<Buffer>}
 */
function read(request) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

const app = new Koa();
app.use(async (context) => {
  const body = await read(context.req);
  context.status = accept(body, context.get('x-service-signature'));
  context.body = 'ok';
});

serve(createServer(app.callback()), countHandled);
