// A route handler of Next.js that receives webhooks: `npm run build && SIGNING_KEY=… npm start`.

import { after } from 'next/server';
import { toFetch } from 'posthorn/fetch';
import { receiver } from '../../receiver.js';

const receive = toFetch(receiver, { waitUntil: after });

export { receive as GET, receive as POST };
