import { toFetch } from 'posthorn/fetch';
import { receiver } from '../../lib/server/receiver.js';

const receive = toFetch(receiver);

/** Every method: the receiver refuses all but POST. */
export const fallback = ({ request, platform }) => receive(request, platform?.ctx);
