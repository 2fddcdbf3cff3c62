import { createServer } from 'node:http';
import { serve } from './serve.js';

let requests = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    requests += 1;
    response.end('ok');
  });
});

serve(server, () => requests);
