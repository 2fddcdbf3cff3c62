import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';

export const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  deadLetters: createFileDeadLetters('dead-letters'),
});
receiver.on('transfer.succeeded', (event) => console.log(event.id, event.data.amount));
