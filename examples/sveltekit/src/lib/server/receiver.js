import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';

export const receiver = createReceiver({
  // `vite build` imports this module without the key, so the key is read at the first delivery.
  signingKey: () => process.env.SIGNING_KEY,
  deadLetters: createFileDeadLetters('dead-letters'),
});
receiver.on('transfer.succeeded', (event) => console.log(event.id, event.data.amount));
