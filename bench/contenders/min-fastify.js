import Fastify from 'fastify';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

const app = Fastify();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
app.post('/webhooks', (request, reply) => {
  const { body, headers } = /** @type {{ body: Buffer, headers: Record<string, string> }} */ (request);
  reply.code(accept(body, headers['x-service-signature'])).send('ok');
});
await app.ready();

serve(app.server, countHandled);
