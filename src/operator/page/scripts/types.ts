/** The members of the interface's answers that the page reads. */
export const typesScript: string = `
/**
 * @typedef {{ view: string, id: string, params: URLSearchParams }} Route
 * @typedef {{ name?: string, provider: string, deadLetters: boolean, journal: boolean }} Receiver
 * @typedef {{ receivers: Receiver[], operator: { name: string, bodies: boolean } }} Receivers
 * @typedef {{ body?: string, headers?: Record<string, string[]> }} Content
 * @typedef {Content & {
 *   id: string, eventId?: string, provider?: string, account?: string, type?: string, reason: string,
 *   message: string, receivedAt: number, parkedAt: number, lastTriedAt?: number, attempts: number,
 *   handled: string[], runningUntil?: number,
 * }} Letter
 * @typedef {{ deadLetters: Letter[], after?: string, unreadable?: string }} LetterPage
 * @typedef {Content & {
 *   id: string, key?: string, type?: string, provider: string, account?: string, createdAt?: number,
 *   firstReceivedAt: number, lastReceivedAt: number, deliveries: number, attempts: number, outcome: string,
 *   code?: string, handled: string[], resource?: string,
 * }} Entry
 * @typedef {{ events: Entry[], after?: string }} EntryPage
 * @typedef {{ name?: string, ok: boolean, durationMs: number, skipped?: string }} HandlerResult
 * @typedef {{
 *   outcome: string, source: string, status: number, code?: string, message?: string,
 *   event?: { id: string, type?: string, key?: string, account?: string }, attempt?: number, final?: boolean,
 *   late: boolean, answerSent: boolean, receivedAt: number, durationMs: number, endpointAtRisk: boolean,
 *   warnings: string[], rerun?: { run: string, reason?: string }, handlers: HandlerResult[],
 * }} ShownReport
 * @typedef {{ since: number, deliveries: ShownReport[] }} Deliveries
 * @typedef {{ code: string, message: string }} ShownError
 * @typedef {{ ok: boolean, failingSince?: number, error?: ShownError }} Part
 * @typedef {{
 *   provider: string, closing: boolean, running: number, store: Part & { latencyMs: number },
 *   deadLetters?: Part & { waiting?: number, more: boolean, oldestParkedAt?: number },
 *   journal?: Part & { waiting: number, leftOut: { bodies: number, entries: number } },
 *   lastDelivery?: { receivedAt: number, outcome: string, code?: string },
 * }} Health
 * @typedef {{ running: number, old: number, others: number }} Skipped
 * @typedef {{ type?: string, reason?: string, prospect?: string, code?: string, count: number }} Count
 * @typedef {{
 *   count: number, counts: Count[], skipped?: Skipped, unreadable?: string, selection?: object,
 *   next?: object,
 * }} Forecast
 * @typedef {{ id: string, type?: string, outcome: string, code?: string, message?: string }} Result
 * @typedef {{
 *   results: Result[], skipped?: Skipped, unreadable?: string, stopped?: { id: string } & ShownError,
 *   next?: object,
 * }} DeedEnd
 */
`;
