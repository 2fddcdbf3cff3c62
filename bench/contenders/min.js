import { createServer } from 'node:http';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    response.statusCode = accept(Buffer.concat(chunks), request.headers['x-service-signature']);
    response.end('ok');
  });
});

serve(server, countHandled);
