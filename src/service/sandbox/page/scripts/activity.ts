/** The messages of the stream, and requests to the sandbox. */
export const activityScript: string = `
/**
 * @typedef {{ id: string, type: string, created_at: string }} ShownEvent
 * @typedef {{ headers: Record<string, string>, body: string }} Message
 * @typedef {{
 *   event: string, webhook: string, number: number, duplicate: boolean, changed?: boolean, at: string,
 *   request: Message & { url: string }, status?: number, error?: string, response?: Message,
 *   durationMs: number, agedMs?: number, olderThan?: string,
 * }} Attempt
 * @typedef {{
 *   event: ShownEvent, webhook: string, number: number, duplicate: boolean, dueAt: number,
 * }} Pending
 * @typedef {{
 *   id: string, url: string, enabled: boolean, authentication: string, updated_at: string,
 *   enabled_events: { entity: string, types: string[] }[],
 * }} Webhook
 * @typedef {{ amount: string, currency: string }} Money
 * @typedef {{
 *   id: number, source: Money, destination: Money, fxRate: string, fee: string, fxQuoteExpiry: string,
 *   status: string, expiresAt: number,
 * }} Quote
 * @typedef {{
 *   isFirst: boolean, nextDueAt: number | null,
 *   clock: { now: number, speed: number, agesEvents: boolean, realNow: number },
 *   webhooks: Webhook[], quotes: Quote[], pending: Pending[], events: ShownEvent[], attempts: Attempt[],
 * }} Activity
 */

/** @param {string} id */
function textArea(id) {
  const found = byId(id);
  if (!(found instanceof HTMLTextAreaElement)) throw new Error(id + ' is not a textarea');
  return found;
}

/**
 * Shows a text, and has a screen reader read it out: few readers notice a status that is new to the page.
 * @param {Element} target
 * @param {string} text
 */
function say(target, text) {
  setText(target, text);
  setText(byId('announcement'), text);
}

/**
 * @param {string} id
 * @param {Element[]} items
 */
function showList(id, items) {
  byId(id).replaceChildren(...items);
  byId('no-' + id).hidden = items.length > 0;
}

/**
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Record<string, unknown>>}
 */
async function post(path, body) {
  return answerTo(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** @param {string} path */
async function get(path) {
  return answerTo(path, {});
}

/**
 * Throws an error that says why the sandbox refused.
 * @param {string} path
 * @param {RequestInit} options
 */
async function answerTo(path, options) {
  const response = await fetch(path, options);
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error([answer.message, answer.details].filter((part) => part !== undefined).join(': '));
}
`;
