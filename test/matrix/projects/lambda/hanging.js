import { createReceiver } from 'posthorn';
import { toLambda } from 'posthorn/lambda';

const receiver = createReceiver({ signingKey: process.env.SIGNING_KEY });
export const handler = toLambda(receiver.on('*', () => new Promise(() => {})));
