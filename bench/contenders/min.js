import { createServer } from 'node:http';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { 'x-service-signature': signature } = /** @type {Record<string, string>} */ (request.headers);
    response.statusCode = accept(Buffer.concat(chunks), signature);
    response.end('ok');
  });
});

serve(server, countHandled);
