/** Requests to the interface. */
export const requestsScript: string = `
/** An answer that is not a success, or a request without an answer. */
class RequestError extends Error {
  /**
   * @param {string} message
   * @param {string} code
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/**
 * The path of one thing of a list.
 * @param {string} list
 * @param {string} id
 */
function pathOf(list, id) {
  if (id !== '.' && id !== '..') return list + '/' + encoded(id);
  // A browser takes these parts out of an address.
  throw new RequestError(
    'An event with the id ' + id + ' has no address of its own. Choose it by its check box in the list.',
    'id_without_address',
  );
}

const RELOAD = 'a proxy or a sign-in page has sent it. Reload this page, and sign in again if you are asked to.';

/** A deed takes 20 seconds, and the last of its events perhaps longer. */
const MOST_MS = 60_000;

/**
 * The part of the answer that the page reads is of type T.
 * @template T
 * @param {string} path
 * @param {Record<string, string>} [query]
 * @returns {Promise<T>}
 */
async function get(path, query = {}) {
  return answerTo(path, query, {}, chosen.receiver);
}

/**
 * Another view, of another receiver, may be chosen while a deed is done.
 * @template T
 * @param {string} path
 * @param {object} body
 * @param {string} receiver
 * @returns {Promise<T>}
 */
async function post(path, body, receiver) {
  const headers = { 'content-type': 'application/json' };
  const answer = await answerTo(path, {}, { method: 'POST', headers, body: JSON.stringify(body) }, receiver);
  // JSON of a proxy has no member next, as the answer to the last portion of a deed.
  if (Array.isArray(answer.counts ?? answer.results)) return answer;
  throw new RequestError('The answer is not from posthorn: ' + RELOAD, 'foreign_answer');
}

/**
 * @param {string} path
 * @param {Record<string, string>} query
 * @param {RequestInit} options
 * @param {string} receiver
 */
async function answerTo(path, query, options, receiver) {
  const all = new URLSearchParams(receiver === '' ? query : { ...query, receiver });
  const url = 'api/' + path + (all.size === 0 ? '' : '?' + all);
  const signal = AbortSignal.timeout(MOST_MS);
  const response = await fetch(url, { ...options, redirect: 'manual', signal }).catch(() => {
    throw new RequestError('The application does not answer. Is it running, and the network there?', 'unreachable');
  });
  const answer = await response.json().catch(() => undefined);
  if (response.ok && typeof answer === 'object' && answer !== null) return answer;
  throw refusalOf(response, answer);
}

/**
 * @param {Response} response
 * @param {{ code?: string, detail?: string } | undefined} answer
 */
function refusalOf({ status, type }, answer) {
  const { code, detail = '' } = answer ?? {};
  if (code === 'forbidden')
    return new RequestError(
      'You may not do this, or the application could not tell who you are. Try again, or sign in again and reload ' +
        'this page.',
      code,
    );
  if (code !== undefined) return new RequestError(detail, code);
  // The browser does not tell where a redirect leads.
  const what = type === 'opaqueredirect' ? 'The answer, a redirect,' : 'The answer, with status ' + status + ',';
  return new RequestError(what + ' is not from posthorn: ' + RELOAD, 'foreign_answer');
}
`;
