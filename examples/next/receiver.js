// JavaScript, so that Node.js 20 can run it for `posthorn dead-letters replay --receiver ./receiver.js`.

import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';

export const receiver = createReceiver({
  // `next build` imports this module without the key, so the key is read at the first delivery.
  signingKey: () => process.env.SIGNING_KEY,
  deadLetters: createFileDeadLetters('dead-letters'),
});
receiver.on('transfer.succeeded', (event) => console.log(event.id, event.data.amount));
