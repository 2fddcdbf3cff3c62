// A SvelteKit application that receives webhooks: `npm run build && SIGNING_KEY=… npm start`. package.json
// raises the BODY_SIZE_LIMIT of adapter-node, 512 KiB by default, above maxBodyBytes.

import { createServer } from 'node:http';
import { handler } from './build/handler.js';

const server = createServer(handler).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}/webhooks`),
);
