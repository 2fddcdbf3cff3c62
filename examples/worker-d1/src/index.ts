// A Cloudflare Worker that receives webhooks, keeps ids and dead letters in D1, replays dead letters by a
// cron trigger, and serves the page for operators at /operator. On a laptop: write SIGNING_KEY="secret" and
// OPERATOR_TOKEN="another" to .dev.vars, then `npm run migrate` and `npm start`. On Cloudflare:
// `npx wrangler secret put SIGNING_KEY`, the same for OPERATOR_TOKEN,
// `npx wrangler d1 migrations apply DB --remote`, and `npx wrangler deploy`.

import { toFetch } from 'posthorn/fetch';
import { serveOperators } from './operators';
import { type Env, getReceiver } from './receiver';
import { replayPortion } from './replay';

let receive: ReturnType<typeof toFetch> | undefined;

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') {
      receive ??= toFetch(getReceiver(env).receiver);
      return receive(request, env, ctx);
    }
    if (!/^\/operator(\/|$)/.test(pathname)) return new Response('not found', { status: 404 });
    const answer = serveOperators(request, env);
    ctx.waitUntil(answer); // a replay goes on if its operator hangs up
    return answer;
  },
  scheduled: (_controller, env) => replayPortion(env),
} satisfies ExportedHandler<Env>;
