import { createGateway } from './lambda-gateway.js';
import { accept, countHandled } from './minimum.js';
import { serve } from './serve.js';

const gateway = createGateway(async ({ headers, body, isBase64Encoded }) => {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  return { statusCode: accept(bytes, headers['x-service-signature']), body: 'ok' };
});

serve(gateway, countHandled);
