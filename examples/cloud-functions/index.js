// A function of Google Cloud that receives webhooks: `npm start`, with SIGNING_KEY and REDIS_URL in its
// environment. The framework parses every body before the function is called, and keeps the bytes in
// `request.rawBody`, where posthorn finds them.

import { http } from '@google-cloud/functions-framework';
import { toExpress } from 'posthorn/express';
import { receiver } from './receiver.js';

http('webhooks', toExpress(receiver));
