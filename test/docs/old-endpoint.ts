// An endpoint as docs/moving.md expects it before its first step: it records an id before its work.
import { createHmac, timingSafeEqual } from 'node:crypto';
import express from 'express';
import { Redis } from 'ioredis';

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');

export const app = express();
app.post('/webhooks', express.raw({ type: '*/*' }), async (request, response) => {
  try {
    const given = Buffer.from(request.get('x-service-signature') ?? '', 'hex');
    const wanted = createHmac('sha256', process.env.SIGNING_KEY ?? '')
      .update(request.body)
      .digest();
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      response.sendStatus(403);
      return;
    }
    const event = JSON.parse(request.body.toString());
    const isNew = await redis.set(`seen:${event.id}`, '1', 'EX', 86_400, 'NX');
    if (isNew !== null) process.stdout.write(`book ${event.id}\n`);
    response.sendStatus(200);
  } catch {
    response.sendStatus(500);
  }
});
