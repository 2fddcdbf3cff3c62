import { randomBytes } from 'node:crypto';
import { createJob } from '../../../dist/src/receiver/queue/queued-job.js';
import { createTemplate, ID_LENGTH } from '../../load/event-template.js';

const { body, idOffset } = createTemplate(700);
const series = `evt_${randomBytes(6).toString('hex')}`;
let made = 0;

/** The body of the next event, whose id no other event of this process has. */
export function nextBody() {
  const id = series + String(made++).padStart(ID_LENGTH - series.length, '0');
  const own = Buffer.from(body);
  own.write(id, idOffset, 'latin1');
  return { id, body: own };
}

/** The job of the next event, as a receiver gives it to its queue. */
export function nextJob() {
  const next = nextBody();
  const now = Date.now();
  return createJob({
    id: next.id,
    type: 'transfer.succeeded',
    rawBody: next.body,
    headers: {
      'content-type': ['application/json'],
      'content-length': [String(next.body.length)],
      'x-service-signature': ['0'.repeat(64)],
    },
    receivedAt: now,
    queuedAt: now,
    handled: [],
    handlers: ['book'],
    isParked: false,
  });
}
