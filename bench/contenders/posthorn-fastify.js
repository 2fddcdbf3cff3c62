import Fastify from 'fastify';
import { toFastify } from '../../dist/adapters/fastify.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const app = Fastify();
app.register(toFastify(createBenchReceiver(), { path: '/webhooks' }));
await app.ready();

serve(app.server, countHandled);
