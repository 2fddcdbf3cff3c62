/** Every id has as many characters, so that one can be written over another. */
export const ID_LENGTH = 28;

/**
 * The body of an event of exactly `bytes` bytes, whose id is a placeholder.
 *
 * @param {number} bytes
 * @returns {{ body: Buffer, idOffset: number }}
 */
export function createTemplate(bytes) {
  const placeholder = '#'.repeat(ID_LENGTH);
  const text = JSON.stringify(eventOf(placeholder, bytes));
  const body = Buffer.from(text);
  if (body.length !== bytes) throw new Error(`an event of ${bytes} bytes cannot be made`);
  return { body, idOffset: body.indexOf(placeholder) };
}

/**
 * @param {string} id
 * @param {number} bytes
 */
function eventOf(id, bytes) {
  const data = {
    id: 'TR_f2fLnrDRRXDRRmKoSDbxmV',
    state: 'SUCCEEDED',
    amount: 662154,
    currency: 'USD',
    merchant: 'MU_mMfzqhtyVvfTNBnpD4GbPk',
    tags: { order_number: '21DFASJSAKAS', note: '' },
    entries: /** @type {object[]} */ ([]),
  };
  const event = {
    id,
    object: 'event',
    type: 'transfer.succeeded',
    created_at: new Date().toISOString(),
    data,
  };
  const missing = () => bytes - JSON.stringify(event).length;
  // Bodies of all sizes are made of small members: one long string would be parsed at the price of a copy.
  while (missing() > ENTRY_LENGTH) data.entries.push(...entries(Math.floor(missing() / ENTRY_LENGTH)));
  data.tags.note = 'x'.repeat(missing());
  return event;
}

const entry = { id: 'TE_000001', type: 'FEE', amount: 1250, currency: 'USD', ready_to_settle_at: null };
const ENTRY_LENGTH = JSON.stringify(entry).length + 1;

/** @param {number} count */
const entries = (count) => Array.from({ length: count }, () => entry);
