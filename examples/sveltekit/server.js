// A SvelteKit application that receives webhooks: `npm run build && SIGNING_KEY=… npm start`.
// Of adapter-node's own BODY_SIZE_LIMIT, 512 KiB by default, package.json makes more than maxBodyBytes.

import { createServer } from 'node:http';
import { handler } from './build/handler.js';

const server = createServer(handler).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}/webhooks`),
);
