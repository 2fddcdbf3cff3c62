import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import type { Context } from 'hono';
import type { Middleware } from 'koa';
import type { LambdaEvent } from 'posthorn/lambda';

// What an application may put before the adapter, so that the body is gone when it comes.

/** A hook of the application that reads the body before the plugin does. */
export function readBeforePlugin(app: FastifyInstance): void {
  app.addHook('preParsing', async (_request, _reply, payload) => {
    await text(payload);
    return payload;
  });
}

/** What the body parsers of Koa do: the stream is decoded to text, which they keep beside what it says. */
export const parseOnKoa: Middleware = async (context, next) => {
  const rawBody = await text(context.req);
  Object.assign(context.request, { rawBody, body: JSON.parse(rawBody) });
  await next();
};

export const readJsonOnHono = (context: Context): Promise<unknown> => context.req.json();

/** What middleware does that parses the body of an event. */
export function parseEventBody(event: LambdaEvent): object {
  return { ...event, body: JSON.parse(event.body ?? 'null') };
}
