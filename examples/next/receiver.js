// A route handler of Next.js that receives webhooks: `npm run build && SIGNING_KEY=… npm start`.

import { after } from 'next/server';
import { createReceiver } from 'posthorn';
import { toFetch } from 'posthorn/fetch';
import { createFileDeadLetters } from 'posthorn/file';

const receiver = createReceiver({
  // `next build` imports this module without the key, so the key is read at the first delivery.
  signingKey: () => process.env.SIGNING_KEY,
  deadLetters: createFileDeadLetters('dead-letters'),
});
receiver.on('transfer.succeeded', (event) => console.log(event.id, event.data.amount));

const receive = toFetch(receiver, { waitUntil: after });

export { receive as GET, receive as POST };
