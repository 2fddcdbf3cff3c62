// A Cloudflare Worker that receives webhooks and keeps ids and letters in D1. On a laptop: write
// SIGNING_KEY="secret" to .dev.vars, then `npm run migrate` and `npm start`. On Cloudflare:
// `npx wrangler secret put SIGNING_KEY`, `npx wrangler d1 migrations apply DB --remote`, and
// `npx wrangler deploy`.

import { createReceiver } from 'posthorn';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { toFetch } from 'posthorn/fetch';

interface Env {
  readonly DB: D1Database;
  readonly SIGNING_KEY: string;
}

const scope = 'example-development';
let receive: ReturnType<typeof mount> | undefined;

function mount({ DB, SIGNING_KEY }: Env) {
  const receiver = createReceiver({
    signingKey: SIGNING_KEY,
    store: createD1Store(DB, { scope }),
    deadLetters: createD1DeadLetters(DB, { scope }),
    maxRunMs: 20_000, // Workers ends in silence what runs for longer than 30 seconds after the answer
  });
  receiver.on('*', (event) => console.log(event.type, event.id));
  return toFetch(receiver);
}

export default {
  fetch(request, env, ctx) {
    if (new URL(request.url).pathname !== '/webhooks') return new Response('not found', { status: 404 });
    // Once in each isolate: only a request brings the environment.
    receive ??= mount(env);
    return receive(request, env, ctx);
  },
} satisfies ExportedHandler<Env>;
