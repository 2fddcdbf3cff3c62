import { createReceiver, type Receiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { authentication, printEvent, signingKey } from '../environment.ts';

export const receiver: Receiver = createReceiver({
  signingKey,
  authentication,
  deadLetters: createFileDeadLetters('dead-letters'),
}).on('*', printEvent);
